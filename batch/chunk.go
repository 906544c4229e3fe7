package batch

import (
	"encoding/json"
	"slices"
	"time"
)

// ChunkSize is the maximum number of tasks in a chunk.
const ChunkSize = 500

// Chunk is a group of a batch's tasks that are read and written together. A million tasks
// form two thousand chunks, only a few of which are in use at any time. The tasks in a chunk
// have consecutive IDs starting at First, and so do the jobs created for them.
type Chunk struct {
	Batch  int64    // ID of the batch
	Number int      // grows from pass to pass
	Pass   int      // Number of its pass
	Kind   PassKind // kind of its pass
	First  int64    // ID of the first task; set by the store

	Size int // number of tasks
	Held int // number of tasks not released yet
	Out  int // number of released tasks that have not been counted as ended
	Marks

	Tasks []ChunkTask // set only on request; never changes
}

// ChunkTask is a task in a chunk.
type ChunkTask struct {
	Of int64 `json:"of,omitempty"` // ID of the task, unless this is its first pass
	Change
	Unremembered bool `json:"unremembered,omitempty"` // it failed in all earlier passes, and none of them stored a memo
}

// Marks records the results of a chunk's tasks, in the same order as the tasks.
type Marks struct {
	States []Mark                  // one byte per task
	Ended  []int64                 // times of their ends, in milliseconds since CreatedAt of the batch; nil if none has ended
	Before map[int]json.RawMessage // maps the indexes of tasks without a Before to the values that the operation read before it applied them
	Doubt  []int                   // indexes of failed tasks that an earlier pass may have applied

	// Unremembered lists the indexes of failed tasks whose jobs ended without a memo.
	Unremembered []int
	Lost         []int // indexes of doubtful tasks; see Task.Doubtful
}

// doubtful reports whether an earlier pass may have applied a task.
func (m *Marks) doubtful(i int) bool { return slices.Contains(m.Doubt, i) }

// Mark is a task's state within its chunk.
type Mark byte

// The marks of tasks.
const (
	MarkHeld   Mark = 'h' // not released yet
	MarkOut    Mark = 'o' // released, and its end has not been counted yet
	MarkDone   Mark = 's' // succeeded
	MarkFailed Mark = 'f' // failed
	MarkDoubt  Mark = 'd' // failed, but may have been applied: it timed out, its node died or its job is missing
	MarkDrop   Mark = 'c' // cancelled before it was started
	MarkHalted Mark = 'k' // cancelled after it had been started, so it may have been applied
	MarkPassed Mark = 'x' // superseded: the task takes part in a later pass
)

// NewMarks returns the marks for a chunk with the given number of tasks, none of which has
// been released.
func NewMarks(tasks int) Marks {
	m := Marks{States: make([]Mark, tasks)}
	for i := range m.States {
		m.States[i] = MarkHeld
	}
	return m
}

// Last returns the last ID assigned to the chunk's tasks.
func (p *Chunk) Last() int64 { return p.First + int64(p.Size) - 1 }

// TaskID returns the ID of the chunk's task at index i. The chunk must have been read with
// its tasks.
func (p *Chunk) TaskID(i int) int64 {
	if of := p.Tasks[i].Of; of != 0 {
		return of
	}
	return p.First + int64(i)
}

// end notes how a task ended.
func (m *Marks) end(i int, mark Mark, after time.Duration) {
	if m.Ended == nil {
		m.Ended = make([]int64, len(m.States))
	}
	m.States[i], m.Ended[i] = mark, after.Milliseconds()
}

// before returns the value that undoing a task restores, or nil if it is unknown.
func (p *Chunk) before(i int) json.RawMessage {
	if given := p.Tasks[i].Before; given != nil {
		return given
	}
	return p.Before[i]
}

// unremembered reports whether a task failed, in this pass and all before, each time
// without anything having been remembered of it. An operation that remembers what was
// there before it changes anything has not applied it then.
func (p *Chunk) unremembered(i int) bool {
	task := &p.Tasks[i]
	if p.Kind == PassUndo {
		return task.Unremembered
	}
	return slices.Contains(p.Unremembered, i) && (task.Of == 0 || task.Unremembered)
}

// taskState returns the state of a task, as far as its mark determines it: a released
// task counts as pending. In a batch that was dropped, a held task counts as cancelled.
func taskState(kind PassKind, mark Mark, dropped bool) TaskState {
	if kind == PassUndo {
		switch mark {
		case MarkHeld, MarkOut:
			return TaskRollbackPending
		case MarkDone:
			return TaskRollbackSuccess
		}
		return TaskRollbackFail
	}
	switch mark {
	case MarkHeld, MarkOut:
		switch {
		case dropped && mark == MarkHeld:
			return TaskCancel
		case kind == PassRetry:
			return TaskRetryPending
		}
		return TaskPending
	case MarkDone:
		return TaskSuccess
	case MarkDrop, MarkHalted:
		return TaskCancel
	}
	return TaskFail
}

// dropped reports whether the batch was cancelled or is being rolled back: then it releases
// only the tasks of undo passes.
func (b *Batch) dropped() bool { return b.Cancelled || b.Undoing }

// began reports whether a pass counts: all its chunks are stored.
func (b *Batch) began(pass int) bool {
	return slices.ContainsFunc(b.Passes, func(p Pass) bool { return p.Number == pass })
}
