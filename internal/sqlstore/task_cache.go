package sqlstore

import (
	"maps"
	"sync"

	"github.com/fairlead-io/fairlead/batch"
)

const (
	cachedTasks = 4 << 20 // bytes that a TaskCache keeps, about
	cachedParts = 8       // parts that are kept of those read at once: the others are let out as a whole
)

// TaskCache remembers what the tasks of parts have to do. That never changes, and
// whoever lets the tasks of a part out bit by bit reads it again each time.
type TaskCache struct {
	mu    sync.Mutex
	parts map[int64][]batch.PartTask // by the first ID of the part
	order []int64                    // oldest first
	bytes int
}

// Known is what is remembered now, by the first ID of the part. Nobody may change
// the tasks.
func (c *TaskCache) Known() map[int64][]batch.PartTask {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.parts)
}

// Forget drops what is remembered: the database may have given the ids of parts to
// others.
func (c *TaskCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts, c.order, c.bytes = nil, nil, 0
}

// Keep remembers the last of some parts, which were read with their tasks.
func (c *TaskCache) Keep(parts []batch.Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil {
		c.parts = map[int64][]batch.PartTask{}
	}
	for _, p := range parts[max(0, len(parts)-cachedParts):] {
		if _, known := c.parts[p.First]; known || weigh(p.Tasks) > cachedTasks/cachedParts {
			continue
		}
		c.parts[p.First] = p.Tasks
		c.order = append(c.order, p.First)
		c.bytes += weigh(p.Tasks)
	}
	for c.bytes > cachedTasks {
		c.bytes -= weigh(c.parts[c.order[0]])
		delete(c.parts, c.order[0])
		c.order = c.order[1:]
	}
}

// weigh tells about how much memory tasks take.
func weigh(tasks []batch.PartTask) int {
	const each = 150 // of the structure itself
	bytes := 0
	for i := range tasks {
		t := &tasks[i]
		bytes += each + len(t.Target.ID) + len(t.Target.Name) + len(t.Target.Type) + len(t.Target.Env) + len(t.Before) + len(t.After)
	}
	return bytes
}
