package batch

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Conducted is the result of checking a batch.
type Conducted struct {
	Next    time.Duration // time until the next check; zero means immediately, negative means only after an event
	Prepare bool          // a requested pass must be prepared, and no process is known to do so
	Try     int           // number of this try to prepare the pass
	Ended   bool          // the batch has completed
	Busy    bool          // the check did much work, so more is likely soon
}

// Conduct checks a batch once: it counts the tasks that have ended, releases more tasks, and
// completes the batch when no tasks are left. It does nothing if another node holds the
// batch's lock.
func Conduct(ctx context.Context, store Store, id int64) (Conducted, error) {
	turns, err := readTurns(ctx, store)
	if err != nil {
		return Conducted{Next: -1}, err
	}
	return ConductAhead(ctx, store, id, turns, nil)
}

// ConductAhead works like Conduct, for a process that repeatedly checks all open batches and
// therefore knows their states. If the check releases many tasks, ConductAhead prepares
// their jobs in advance.
func ConductAhead(ctx context.Context, store Store, id int64, turns *Turns, outlook *Outlook) (Conducted, error) {
	var c *conducting
	begun, err := store.Conduct(ctx, id, false, func(ctx context.Context, batch *Record, tx Tx) error {
		c = newConducting(batch, tx)
		c.turns, c.outlook = turns, outlook
		return c.look(ctx)
	})
	if err != nil || !begun {
		return Conducted{Next: -1}, err
	}
	turns.know(c.Record)
	c.done.Busy = c.ended >= ChunkSize || len(c.jobs) >= ChunkSize
	if outlook != nil {
		outlook.pass(c.saved)
		if len(c.jobs) >= ChunkSize && c.Held > 0 {
			err = outlook.extend(ctx, store, c.Record)
		}
	}
	return c.done, err
}

// conducting is a transaction that acts upon a batch.
type conducting struct {
	*Record
	tx    Tx
	now   time.Time
	ended int             // tasks that this look saw end
	saved map[int]*Chunk  // number → chunks that were changed
	order []int           // theirs
	jobs  []*fairlead.Job // to be enqueued
	bytes int             // of their args
	done  Conducted

	turns   *Turns   // nil: those of other batches are not known
	outlook *Outlook // nil: nothing was made beforehand
	beside  Line     // what the tasks that are released stand beside
}

func newConducting(batch *Record, tx Tx) *conducting {
	return &conducting{Record: batch, tx: tx, now: tx.Now(), saved: map[int]*Chunk{}, done: Conducted{Next: -1}}
}

// look does all there is to do with a batch, in a transaction that holds its lock:
//
//  1. fold counts the tasks that have ended.
//  2. judge pauses the batch if too many tasks have failed, and recalls released tasks that
//     must not start.
//  3. release creates jobs for more tasks.
//  4. conclude ends the batch if no task is left, or reports that a pass must be prepared.
//  5. keep writes what the steps have changed.
//
// Each step needs the result of the one before: failures must be counted before they are
// judged, a paused batch must not release tasks, and only a batch that could release nothing
// is complete. Jobs run meanwhile. A task that ends after fold is counted by the next look,
// and recall takes back only jobs that have not started when it locks them.
func (c *conducting) look(ctx context.Context) error {
	if !c.Opened || !c.EndedAt.IsZero() {
		return nil
	}
	if err := c.fold(ctx); err != nil {
		return err
	}
	return c.lookOn(ctx)
}

// lookOn does the steps after fold. Callers that have counted the ends call it directly.
func (c *conducting) lookOn(ctx context.Context) error {
	if !c.EndedAt.IsZero() {
		return c.keep(ctx)
	}
	if err := c.judge(ctx); err != nil {
		return err
	}
	if err := c.release(ctx); err != nil {
		return err
	}
	if err := c.conclude(ctx); err != nil {
		return err
	}
	return c.keep(ctx)
}

// keep writes the changed chunks, and the jobs of the released tasks. The batch itself is
// written by the store. All of it commits together, so a task is marked as released if and
// only if its job exists.
func (c *conducting) keep(ctx context.Context) error {
	chunks := make([]Chunk, 0, len(c.order))
	for _, number := range c.order {
		chunks = append(chunks, *c.saved[number])
	}
	if len(chunks) > 0 {
		if err := c.tx.SaveChunks(ctx, chunks); err != nil {
			return err
		}
	}
	if len(c.jobs) == 0 {
		return nil
	}
	return c.tx.Enqueue(ctx, c.jobs)
}

// touch records that a chunk will be changed, and returns its current version: one step may
// have changed a chunk that a later step has read again.
func (c *conducting) touch(p *Chunk) *Chunk {
	if known := c.saved[p.Number]; known != nil {
		if known.Tasks == nil {
			known.Tasks = p.Tasks
		}
		return known
	}
	c.saved[p.Number] = p
	c.order = append(c.order, p.Number)
	return p
}

// move counts a task that goes from one state to another.
func (c *conducting) move(p *Chunk, i int, to Mark) {
	from := p.States[i]
	*c.Tally.Of(taskState(p.Kind, from, c.dropped()))--
	if to != MarkPassed {
		*c.Tally.Of(taskState(p.Kind, to, c.dropped()))++
	}
	for _, m := range []struct {
		mark Mark
		by   int
	}{{from, -1}, {to, 1}} {
		switch m.mark {
		case MarkHeld:
			p.Held += m.by
			*c.heldBy(p.Kind) += m.by
		case MarkOut:
			p.Out += m.by
			c.Out += m.by
			if to == MarkHeld {
				c.Line.dropLast()
			} else if from == MarkOut {
				c.Line.dropFirst()
			}
			if p.Kind == PassUndo {
				c.OutUndo += m.by
			}
		case MarkDoubt, MarkHalted:
			if p.Kind != PassUndo {
				c.Unclear += m.by
			}
		}
	}
	p.States[i] = to
}

// prepareTime is after how long another process makes a wanted pass.
const prepareTime = time.Minute

// conclude completes a batch without remaining tasks. Before that, it searches for tasks whose
// results a lost commit has hidden, and continues a rollback for tasks that were still running
// when the rollback was requested. If a requested pass is not prepared yet, it asks the caller
// to prepare it after this transaction, unless a process has begun to do so.
func (c *conducting) conclude(ctx context.Context) error {
	if len(c.Wanted) == 0 && c.Out == 0 {
		if all, err := c.comb(ctx); err != nil || !all {
			return err
		}
	}
	if c.Undoing && len(c.Wanted) == 0 && c.Out == 0 && c.applied(c.Undo.Failed) {
		c.ask(c.Undo) // tasks that were running when RollBack was called were applied after all
	}
	if len(c.Wanted) > 0 {
		if c.done.Prepare = c.now.Sub(c.PreparedAt) >= prepareTime; c.done.Prepare {
			c.PreparedAt = c.now
			c.Tries++
			c.done.Try = c.Tries
		}
		return nil
	}
	if c.Tally.Open() > 0 {
		return nil
	}
	c.Completions++
	c.EndedAt, c.done.Ended = c.now, true
	return c.then(ctx)
}

// applied reports whether tasks were applied, or may have been, and were not rolled back.
// With failed, all failed tasks count.
func (b *Batch) applied(failed bool) bool {
	return b.Tally.Success+b.Unclear > 0 || failed && b.Tally.Fail > 0
}
