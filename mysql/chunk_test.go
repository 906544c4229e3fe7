package mysql

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead/batch"
)

// The server takes statements of 8 MiB, as the package says; those that name bytes in
// hexadecimal would be longer.
func TestChunksOfMegabytesAreStored(t *testing.T) {
	s, err := Open(t.Context(), Migrated.MySQL(t)+"?maxAllowedPacket=8388608")
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
	chunk := batch.Chunk{Number: 1, Pass: 1, Kind: batch.PassForward, Size: size, Held: size, Marks: batch.NewMarks(size)}
	for range size {
		chunk.Tasks = append(chunk.Tasks, batch.ChunkTask{Change: batch.Change{After: after}})
	}
	if err := s.AddChunks(t.Context(), b.ID, []batch.Chunk{chunk, {Number: 2, Pass: 1, Kind: batch.PassForward, Size: size, Marks: chunk.Marks, Tasks: chunk.Tasks}}); err != nil {
		t.Fatal(err)
	}
	chunks, err := s.Chunks(t.Context(), b.ID, batch.ChunkFilter{Tasks: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) != 2 || len(chunks[1].Tasks) != size || !bytes.Equal(chunks[1].Tasks[size-1].After, after) {
		t.Errorf("%d chunks came back, or others", len(chunks))
	}
}
