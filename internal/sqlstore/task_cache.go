package sqlstore

import (
	"maps"
	"sync"

	"github.com/fairlead-io/fairlead/batch"
)

const (
	cachedTasks  = 4 << 20 // bytes that a TaskCache keeps, about
	cachedChunks = 8       // chunks that are kept of those read at once: the tasks of the others are released together
)

// TaskCache remembers what the tasks of chunks have to do. That never changes, and a
// batch that releases the tasks of a chunk bit by bit reads it again each time.
type TaskCache struct {
	mu     sync.Mutex
	chunks map[int64][]batch.ChunkTask // by the first ID of the chunk
	order  []int64                     // oldest first
	bytes  int
}

// Known is what is remembered now, by the first ID of the chunk. The caller must
// not change the tasks.
func (c *TaskCache) Known() map[int64][]batch.ChunkTask {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.chunks)
}

// Forget drops what is remembered: the database may have given the ids of chunks to
// others.
func (c *TaskCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks, c.order, c.bytes = nil, nil, 0
}

// Keep remembers the last of some chunks, which were read with their tasks.
func (c *TaskCache) Keep(chunks []batch.Chunk) {
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

// weigh tells about how much memory tasks take.
func weigh(tasks []batch.ChunkTask) int {
	const each = 150 // of the structure itself
	bytes := 0
	for i := range tasks {
		t := &tasks[i]
		bytes += each + len(t.Target.ID) + len(t.Target.Name) + len(t.Target.Type) + len(t.Target.Env) + len(t.Before) + len(t.After)
	}
	return bytes
}
