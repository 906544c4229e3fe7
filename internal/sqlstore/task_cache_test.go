package sqlstore

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/batch"
)

func TestACacheOfTasksForgetsTheOldest(t *testing.T) {
	var c TaskCache
	chunk := func(first int64, bytes int) batch.Chunk {
		return batch.Chunk{First: first, Tasks: []batch.ChunkTask{{Change: batch.Change{After: make(json.RawMessage, bytes)}}}}
	}
	if len(c.Known()) != 0 {
		t.Error("an empty cache knows something")
	}
	c.Keep([]batch.Chunk{chunk(1, cachedTasks)})
	if len(c.Known()) != 0 {
		t.Error("a chunk was kept that takes the place of all others")
	}
	const each = cachedTasks / (2 * cachedChunks)
	for first := int64(10); first < 60; first += 10 {
		chunks := make([]batch.Chunk, 10)
		for i := range chunks {
			chunks[i] = chunk(first+int64(i), each)
		}
		c.Keep(chunks)
		c.Keep(chunks) // they are cached
	}
	known := slices.Sorted(maps.Keys(c.Known()))
	want := []int64{43, 44, 45, 46, 47, 48, 49, 52, 53, 54, 55, 56, 57, 58, 59}
	if !slices.Equal(known, want) {
		t.Errorf("the chunks %v are known, want %v", known, want)
	}
	if len(c.Known()[59][0].After) != each {
		t.Error("the tasks are others")
	}
}
