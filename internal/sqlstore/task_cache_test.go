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
	part := func(first int64, bytes int) batch.Part {
		return batch.Part{First: first, Tasks: []batch.PartTask{{Change: batch.Change{After: make(json.RawMessage, bytes)}}}}
	}
	if len(c.Known()) != 0 {
		t.Error("an empty cache knows something")
	}
	c.Keep([]batch.Part{part(1, cachedTasks)})
	if len(c.Known()) != 0 {
		t.Error("a part was kept that takes the place of all others")
	}
	const each = cachedTasks / (2 * cachedParts)
	for first := int64(10); first < 60; first += 10 {
		parts := make([]batch.Part, 10)
		for i := range parts {
			parts[i] = part(first+int64(i), each)
		}
		c.Keep(parts)
		c.Keep(parts) // they are known
	}
	known := slices.Sorted(maps.Keys(c.Known()))
	want := []int64{43, 44, 45, 46, 47, 48, 49, 52, 53, 54, 55, 56, 57, 58, 59}
	if !slices.Equal(known, want) {
		t.Errorf("the parts %v are known, want %v", known, want)
	}
	if len(c.Known()[59][0].After) != each {
		t.Error("the tasks are others")
	}
}
