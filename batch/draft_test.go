package batch

import (
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// TestABatchHasABoundOfTasks does not make a million of them: it has a draft that did.
func TestABatchHasABoundOfTasks(t *testing.T) {
	change := Change{Target: Target{ID: "1", Type: "box"}}
	for name, fill := range map[string]func(w *chunkWriter){
		"of their number": func(w *chunkWriter) { w.count = MaxTasks - 1 },
		"of their chunks": func(w *chunkWriter) {
			w.next = w.pass*chunksPerPass + chunksPerPass - 3
			w.tasks = make([]ChunkTask, ChunkSize-1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			draft := &Draft{builder: builder{batch: Batch{Type: "move"}, writer: newChunkWriter(nil, 1, 1, PassForward), kinds: map[string]bool{"box.move": true}}}
			fill(draft.writer)
			if err := draft.Add(t.Context(), change); err != nil {
				t.Fatalf("the last that it may have: %v", err)
			}
			var invalid *fairlead.InvalidError
			if err := draft.Add(t.Context(), change); !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "tasks" {
				t.Errorf("one more: got %v", err)
			}
		})
	}
}
