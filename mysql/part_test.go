package mysql

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// The server takes statements of 8 MiB, as the package says; those that name bytes in
// hexadecimal would be longer.
func TestPartsOfMegabytesAreStored(t *testing.T) {
	s, err := Open(t.Context(), testdb.MySQL(t)+"?maxAllowedPacket=8388608")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	batch := fairlead.Batch{Name: "large", Type: "move"}
	if err := fairlead.NormalizeBatch(&batch); err != nil {
		t.Fatal(err)
	}
	if batch, err = s.CreateBatch(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	const size = 20
	after, err := json.Marshal(string(bytes.Repeat([]byte(`ü"`), 75_000)))
	if err != nil {
		t.Fatal(err)
	}
	part := fairlead.Part{Number: 1, Pass: 1, Kind: fairlead.PassForward, Size: size, Held: size, Marks: fairlead.NewMarks(size)}
	for range size {
		part.Tasks = append(part.Tasks, fairlead.PartTask{Change: fairlead.Change{After: after}})
	}
	if err := s.AddParts(t.Context(), batch.ID, []fairlead.Part{part, {Number: 2, Pass: 1, Kind: fairlead.PassForward, Size: size, Marks: part.Marks, Tasks: part.Tasks}}); err != nil {
		t.Fatal(err)
	}
	parts, err := s.Parts(t.Context(), batch.ID, fairlead.PartFilter{Tasks: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 2 || len(parts[1].Tasks) != size || !bytes.Equal(parts[1].Tasks[size-1].After, after) {
		t.Errorf("%d parts came back, or others", len(parts))
	}
}
