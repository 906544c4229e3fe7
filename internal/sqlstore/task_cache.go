package sqlstore

import (
	"maps"
	"sync"

	"github.com/fairlead-io/fairlead/batch"
)

const (
	cachedTasks  = 4 << 20 // approximate maximum size of a TaskCache in bytes
	cachedChunks = 8       // cached chunks of one read; the tasks of the other chunks are released together
)

// TaskCache caches the tasks of chunks. The tasks of a chunk never change, and a batch that
// releases them gradually would otherwise read them each time. A nil TaskCache caches nothing.
type TaskCache struct {
	mu     sync.Mutex
	chunks map[int64][]batch.ChunkTask // by the first ID of the chunk
	order  []int64                     // oldest first
	bytes  int
}

// Known returns the cached tasks. The map's keys are the chunks' first task IDs. Callers must
// not modify the tasks.
func (c *TaskCache) Known() map[int64][]batch.ChunkTask {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.chunks)
}

// Forget empties the cache, because the database may have reused chunk IDs.
func (c *TaskCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks, c.order, c.bytes = nil, nil, 0
}

// Keep caches the last few of the given chunks. The chunks must have been read with their
// tasks.
func (c *TaskCache) Keep(chunks []batch.Chunk) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chunks == nil {
		c.chunks = map[int64][]batch.ChunkTask{}
	}
	for _, p := range chunks[max(0, len(chunks)-cachedChunks):] {
		if _, known := c.chunks[p.First]; known || weigh(p.Tasks) > cachedTasks/cachedChunks {
			continue
		}
		c.chunks[p.First] = p.Tasks
		c.order = append(c.order, p.First)
		c.bytes += weigh(p.Tasks)
	}
	for c.bytes > cachedTasks {
		c.bytes -= weigh(c.chunks[c.order[0]])
		delete(c.chunks, c.order[0])
		c.order = c.order[1:]
	}
}

// weigh returns the approximate memory size of tasks.
func weigh(tasks []batch.ChunkTask) int {
	const each = 150 // size of the structure itself
	bytes := 0
	for i := range tasks {
		t := &tasks[i]
		bytes += each + len(t.Target.ID) + len(t.Target.Name) + len(t.Target.Type) + len(t.Target.Env) + len(t.Before) + len(t.After)
	}
	return bytes
}
