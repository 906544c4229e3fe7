package batch

import (
	"context"
	"strings"
	"testing"
)

// A transaction never holds many megabytes of tasks, whatever makes them large.
func TestATransactionStoresAFewMegabytesOfTasks(t *testing.T) {
	const most = 4 << 20
	for name, change := range map[string]Change{
		"large documents":        {Before: []byte(strings.Repeat("1", maxTaskParam)), After: []byte(strings.Repeat("1", maxTaskParam))},
		"chunks almost as large": {After: []byte(strings.Repeat("1", most/ChunkSize-100))},
		"long names":             {Target: Target{ID: strings.Repeat("n", 255), Name: strings.Repeat("n", 255), Env: strings.Repeat("n", 255)}, After: []byte(strings.Repeat("1", 700))},
	} {
		t.Run(name, func(t *testing.T) {
			const tasks = 6000
			stored := 0
			w := newChunkWriter(func(_ context.Context, _ int64, chunks []Chunk) error {
				size := 0
				for _, chunk := range chunks {
					stored += len(chunk.Tasks)
					for _, task := range chunk.Tasks {
						size += len(task.Before) + len(task.After) + len(task.Target.ID) + len(task.Target.Name) + len(task.Target.Env)
					}
				}
				if size > most+2*maxTaskParam {
					t.Errorf("a transaction stores %d bytes", size)
				}
				return nil
			}, 1, 1, PassForward)
			for range tasks {
				if err := w.add(t.Context(), ChunkTask{Change: change}, false, false); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.close(t.Context(), &Batch{}); err != nil || stored != tasks {
				t.Errorf("%d of %d tasks are stored: %v", stored, tasks, err)
			}
		})
	}
}
