package batch

import (
	"encoding/json"
	"slices"
	"time"
)

// ChunkSize is how many tasks a chunk of a batch has at most.
const ChunkSize = 500

// Chunk is a few tasks of a batch: what is read and written at once. A million tasks
// are two thousand chunks, of which a few are in use at any instant.
//
// The tasks of a chunk have the IDs from First on, one after the other. So have the
// jobs that are made of them.
type Chunk struct {
	Batch  int64
	Number int // grows from pass to pass
	Pass   int // its Number
	Kind   PassKind
	First  int64 // set by the store

	Size int // tasks
	Held int // of them that were not released yet
	Out  int // of them that were, and have not been seen to have ended
	Marks

	Tasks []ChunkTask // only if they were asked for; they never change
}

// ChunkTask is what a task of a chunk has to do.
type ChunkTask struct {
	Of int64 `json:"of,omitempty"` // ID of the task, if it is not the first time that it is done
	Change
	Unremembered bool `json:"unremembered,omitempty"` // it failed in all passes before, and of none anything was remembered
}

// Marks are what is known of the tasks of a chunk, in step with them.
type Marks struct {
	States []Mark                  // one byte each
	Ended  []int64                 // when, in milliseconds since CreatedAt of the batch; nil: none has
	Before map[int]json.RawMessage // index → what the operation found before it applied a task whose Before was missing
	Doubt  []int                   // indexes of tasks that an earlier pass may have applied, though they failed

	// Unremembered are the indexes of tasks that failed and whose job was seen to have
	// ended without a memo.
	Unremembered []int
	Lost         []int // indexes of tasks that are doubtful: see Task.Doubtful
}

// doubtful reports whether an earlier pass may have applied a task.
func (m *Marks) doubtful(i int) bool { return slices.Contains(m.Doubt, i) }

// Mark is how a task stands in its chunk.
type Mark byte

// The marks.
const (
	MarkHeld   Mark = 'h' // not released yet
	MarkOut    Mark = 'o' // released, and not seen to have ended
	MarkDone   Mark = 's' // succeeded
	MarkFailed Mark = 'f'
	MarkDoubt  Mark = 'd' // failed, but may have been applied: it timed out, its node died or its job is missing
	MarkDrop   Mark = 'c' // cancelled before it was started
	MarkHalted Mark = 'k' // cancelled, but may have been applied: it had been started
	MarkPassed Mark = 'x' // it takes part in a later pass, which counts
)

// NewMarks are those of tasks that were not released yet.
func NewMarks(tasks int) Marks {
	m := Marks{States: make([]Mark, tasks)}
	for i := range m.States {
		m.States[i] = MarkHeld
	}
	return m
}

// Last is the ID of the last task.
func (p *Chunk) Last() int64 { return p.First + int64(p.Size) - 1 }

// TaskID is the ID of a task of the chunk. The tasks have to be there.
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

// before is what is put back if a task is rolled back; nil: it is unknown.
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

// taskState is how a task with a mark stands, as far as the mark tells: what is let
// out counts as pending. Of a batch that was dropped, what was held counts as
// cancelled.
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

// dropped reports whether tasks that were not released never will be, unless they are
// rolled back.
func (b *Batch) dropped() bool { return b.Cancelled || b.Undoing }

// began reports whether a pass counts: all its chunks are stored.
func (b *Batch) began(pass int) bool {
	return slices.ContainsFunc(b.Passes, func(p Pass) bool { return p.Number == pass })
}
