package mysql

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead/batch"
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
	b := batch.Batch{Name: "large", Type: "move"}
	if err := batch.Normalize(&b); err != nil {
		t.Fatal(err)
	}
	if b, err = s.CreateBatch(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	const size = 20
	after, err := json.Marshal(string(bytes.Repeat([]byte(`ü"`), 75_000)))
	if err != nil {
		t.Fatal(err)
	}
	part := batch.Part{Number: 1, Pass: 1, Kind: batch.PassForward, Size: size, Held: size, Marks: batch.NewMarks(size)}
	for range size {
		part.Tasks = append(part.Tasks, batch.PartTask{Change: batch.Change{After: after}})
	}
	if err := s.AddParts(t.Context(), b.ID, []batch.Part{part, {Number: 2, Pass: 1, Kind: batch.PassForward, Size: size, Marks: part.Marks, Tasks: part.Tasks}}); err != nil {
		t.Fatal(err)
	}
	parts, err := s.Parts(t.Context(), b.ID, batch.PartFilter{Tasks: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 2 || len(parts[1].Tasks) != size || !bytes.Equal(parts[1].Tasks[size-1].After, after) {
		t.Errorf("%d parts came back, or others", len(parts))
	}
}
