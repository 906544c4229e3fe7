package batch

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// Client starts and manages the batches in a store. It is safe for concurrent use.
type Client struct {
	store Store
	mux   *fairlead.Mux // nil: none is known
}

// NewClient returns a client for the store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Knowing returns a client that knows the operations registered with mux. The client refuses
// tasks that these operations refuse, and accepts tasks for them even before a node with the
// mux has joined.
func (c *Client) Knowing(mux *fairlead.Mux) *Client {
	return &Client{store: c.store, mux: mux}
}

// operations are those that are known, by the kind of their jobs.
func (c *Client) operations() map[string]Operation {
	known := map[string]Operation{}
	if c.mux == nil {
		return known
	}
	for _, kind := range c.mux.Kinds() {
		if op, ok := c.mux.Attached(kind).(Operation); ok {
			known[kind] = op
		}
	}
	return known
}

// prepareAtOnce is up to how many tasks the caller that asks for a pass makes it.
const prepareAtOnce = 10_000

// preparePasses is the largest number of passes that this caller makes.
const preparePasses = 3

// Start creates and starts a batch with one task per change. It returns ErrInvalid if the
// batch or a change is invalid, or if no live node can perform the tasks (see Knowing).
func (c *Client) Start(ctx context.Context, batch Batch, changes ...Change) (Batch, error) {
	n, err := c.Begin(ctx, batch)
	if err != nil {
		return Batch{}, err
	}
	if err := n.Add(ctx, changes...); err != nil {
		return Batch{}, err
	}
	return n.Open(ctx)
}

// act changes a batch and does what follows from it in one transaction.
func (c *Client) act(ctx context.Context, id int64, change func(b *Record) error) (Batch, error) {
	turns, err := readTurns(ctx, c.store)
	if err != nil {
		return Batch{}, err
	}
	var acted Record
	var done Conducted
	_, err = c.store.Conduct(ctx, id, true, func(ctx context.Context, batch *Record, tx Tx) error {
		conducting := newConducting(batch, tx)
		conducting.turns = turns
		if batch.Opened {
			if err := conducting.fold(ctx); err != nil { // it is judged by how it stands now
				return err
			}
		}
		if err := change(batch); err != nil {
			return err
		}
		err := conducting.lookOn(ctx)
		acted, done = *batch, conducting.done
		return err
	})
	if err != nil {
		return Batch{}, err
	}
	if !done.Prepare || acted.Total > prepareAtOnce {
		return acted.forUser(), nil
	}
	// A rollback may turn out to need another pass. Whatever is left after a few is made by
	// the node that conducts the batch: the caller must not wait for wrong counts.
	for passes := 0; done.Prepare && passes < preparePasses; passes++ {
		if err := Prepare(ctx, c.store, id, done.Try); err != nil {
			return Batch{}, err
		}
		if done, err = Conduct(ctx, c.store, id); err != nil {
			return Batch{}, err
		}
	}
	return c.Get(ctx, id)
}

// illegal is the ErrConflict of an action that the state of a batch forbids.
func illegal(action string, b *Record) error {
	return fmt.Errorf("cannot %s batch %d: it is %s: %w", action, b.ID, b.State(), fairlead.ErrConflict)
}

// Get returns the batch with the given ID. It returns ErrNotFound if the batch does not
// exist.
func (c *Client) Get(ctx context.Context, id int64) (Batch, error) {
	record, err := c.record(ctx, id)
	if err != nil {
		return Batch{}, err
	}
	return record.forUser(), nil
}

// record returns a batch that is opened with its ledger, or ErrNotFound.
func (c *Client) record(ctx context.Context, id int64) (Record, error) {
	record, err := one(ctx, c.store, id)
	if err == nil && !record.Opened {
		err = fmt.Errorf("batch %d: %w", id, fairlead.ErrNotFound)
	}
	return record, err
}

// List returns the matching batches, newest first.
func (c *Client) List(ctx context.Context, filter Filter) ([]Batch, error) {
	if filter.Limit <= 0 {
		filter.Limit = fairlead.DefaultPage
	}
	var batches []Batch
	for {
		records, err := c.store.Batches(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range records {
			b := records[i].forUser()
			if filter.Below = b.ID; len(filter.States) == 0 || slices.Contains(filter.States, b.State()) {
				batches = append(batches, b)
			}
			if len(batches) == filter.Limit {
				return batches, nil
			}
		}
		if cut := paged.From(ctx).Cut(); len(records) < filter.Limit && (!cut || len(batches) > 0) {
			return batches, nil
		}
	}
}

// Delete removes a completed batch and its tasks. The jobs created for the tasks remain
// until they are deleted or pruned. Delete returns ErrConflict if the batch has not
// completed, and ErrNotFound if it does not exist.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.DeleteBatch(ctx, id) }

// Cancel prevents the batch from starting more tasks. Running tasks continue, and their
// results are counted. Cancel returns ErrConflict if all tasks have ended or the batch has
// already been cancelled or rolled back, and ErrNotFound if the batch does not exist.
func (c *Client) Cancel(ctx context.Context, id int64, reason string) (Batch, error) {
	return c.act(ctx, id, func(b *Record) error {
		switch state := b.State(); {
		case b.dropped() || state != Pending && state != Running:
			return illegal("cancel", b)
		}
		b.drop(&b.Cancelled)
		b.Reason = reason
		return nil
	})
}

// drop lets nothing go forward any more. What was not released counts as cancelled, but
// for what was to be retried: the next look finds that it has failed.
func (r *Record) drop(flag *bool) {
	if !r.dropped() {
		r.Tally.Pending -= r.Held
		r.Tally.RetryPending -= r.HeldRetry
		r.Tally.Cancel += r.Held + r.HeldRetry
		r.Wanted = slices.DeleteFunc(r.Wanted, func(w Wanted) bool { return w.Kind == PassRetry })
	}
	*flag = true
}

// Retry repeats failed tasks: those with the given IDs or, if none are given, all of them.
// If the batch is paused, Retry resumes it. Retry returns ErrConflict if no task has failed
// or one of the given tasks has not failed, and ErrNotFound if the batch or a task does not
// exist.
func (c *Client) Retry(ctx context.Context, id int64, tasks ...int64) (Batch, error) {
	if err := c.checkTasks(ctx, id, tasks, "retry", func(state TaskState, _ Mark) bool { return state == TaskFail }); err != nil {
		return Batch{}, err
	}
	return c.act(ctx, id, func(b *Record) error {
		if b.dropped() || b.Tally.Fail == 0 {
			return illegal("retry", b)
		}
		b.want(Wanted{Kind: PassRetry, Tasks: tasks})
		return nil
	})
}

// want asks for a pass and opens the batch again. If it was paused it goes on.
func (r *Record) want(w Wanted) {
	r.ask(w)
	if r.Paused {
		r.Paused, r.Reason = false, ""
	}
	r.EndedAt, r.Forgiven = time.Time{}, r.Tally.Fail
}

// RollBack selects the tasks to roll back and how to do so.
type RollBack struct {
	Tasks  []int64 // IDs of tasks; empty means all tasks that were applied
	Failed bool    // include failed tasks that had started
	Serial bool    // roll back one task at a time
}

// RollBack restores the previous values of a batch's targets, starting with the task that
// ended last. If all tasks are rolled back, pending tasks never start, and running tasks
// that still succeed are rolled back as well. If tasks fail during a rollback, call RollBack
// again to resume it. RollBack returns ErrConflict if there is nothing to roll back, and
// ErrNotFound if the batch or a task does not exist.
func (c *Client) RollBack(ctx context.Context, id int64, r RollBack) (Batch, error) {
	if err := c.checkTasks(ctx, id, r.Tasks, "roll back", r.reaches); err != nil {
		return Batch{}, err
	}
	return c.act(ctx, id, func(b *Record) error {
		if !b.canRollBack(r) {
			return illegal("roll back", b)
		}
		wanted := Wanted{Kind: PassUndo, Tasks: r.Tasks, Failed: r.Failed, Serial: r.Serial}
		if len(r.Tasks) == 0 {
			if b.Tally.Open() > 0 {
				b.drop(&b.Cancelled)
			}
			b.drop(&b.Undoing)
			b.Undo = wanted
		}
		b.want(wanted)
		return nil
	})
}

// canRollBack reports whether there is something to roll back, or may come to be. A
// batch that is being rolled back accepts another RollBack only for tasks that failed.
func (r *Record) canRollBack(request RollBack) bool {
	if slices.ContainsFunc(r.Wanted, func(w Wanted) bool { return w.Kind == PassUndo }) {
		return false
	}
	if r.Undoing {
		return r.Tally.RollbackFail > 0 || request.Failed && r.Tally.Fail > 0
	}
	return r.applied(request.Failed) || r.Tally.RollbackFail > 0 || len(request.Tasks) == 0 && r.Tally.Open() > 0
}

// maxChosen is how many tasks can be chosen by their IDs at once.
const maxChosen = 10_000

// checkTasks expects that an action may be taken on tasks of a batch, as they stand.
func (c *Client) checkTasks(ctx context.Context, id int64, tasks []int64, action string, may func(TaskState, Mark) bool) error {
	if len(tasks) == 0 {
		return nil
	}
	if len(tasks) > maxChosen {
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "tasks", Message: fmt.Sprintf("has %d entries; specify at most %d, or none to select all", len(tasks), maxChosen)}}}
	}
	found, marks, err := c.markedTasks(ctx, TaskFilter{Batch: id, IDs: tasks, Limit: len(tasks)})
	if err != nil {
		return err
	}
	for i, task := range found {
		if !may(task.State, marks[i]) {
			return fmt.Errorf("cannot %s task %d of batch %d: it is %s: %w", action, task.ID, id, task.State, fairlead.ErrConflict)
		}
	}
	known := make(map[int64]bool, len(found))
	for i := range found {
		known[found[i].ID] = true
	}
	for _, task := range tasks {
		if !known[task] {
			return fmt.Errorf("task %d of batch %d: %w", task, id, fairlead.ErrNotFound)
		}
	}
	return nil
}

// Pause prevents tasks from starting until the batch is resumed. Running tasks continue.
// Pause returns ErrConflict if the batch is already paused, has been cancelled or has
// completed, and ErrNotFound if it does not exist.
func (c *Client) Pause(ctx context.Context, id int64, reason string) (Batch, error) {
	return c.act(ctx, id, func(b *Record) error {
		if b.Paused {
			return fmt.Errorf("cannot pause batch %d: it is already paused: %w", b.ID, fairlead.ErrConflict)
		}
		if !b.EndedAt.IsZero() || b.State() == Cancel && len(b.Wanted) == 0 { // a rollback can be paused
			return illegal("pause", b)
		}
		b.Paused, b.Reason = true, reason
		return nil
	})
}

// Resume resumes a paused batch. Earlier failures no longer count towards StopAfter. Resume
// returns ErrConflict if the batch is not paused, and ErrNotFound if it does not exist.
func (c *Client) Resume(ctx context.Context, id int64) (Batch, error) {
	return c.act(ctx, id, func(b *Record) error {
		if !b.Paused {
			return fmt.Errorf("cannot resume batch %d: it is not paused: %w", b.ID, fairlead.ErrConflict)
		}
		b.Paused, b.Reason, b.Forgiven = false, "", b.Tally.Fail
		return nil
	})
}

// Approve releases the tasks after the canary, even if the canary has not ended. It returns
// ErrConflict if the batch has no canary, or has already been approved, cancelled or
// completed. It returns ErrNotFound if the batch does not exist.
func (c *Client) Approve(ctx context.Context, id int64) (Batch, error) {
	return c.act(ctx, id, func(b *Record) error {
		if b.Canary.Tasks == 0 || !b.EndedAt.IsZero() || b.dropped() {
			return illegal("approve", b)
		}
		if b.Approved {
			return fmt.Errorf("cannot approve batch %d: its canary has already been approved: %w", b.ID, fairlead.ErrConflict)
		}
		b.Approved, b.Paused, b.Reason = true, false, ""
		return nil
	})
}

// Pace holds new values for the settings that determine a batch's speed.
type Pace struct {
	MaxRunning *int     // maximum number of tasks released at once; nil keeps the current value
	Rate       *float64 // tasks released per second; nil keeps the current value
}

// SetPace changes a batch's speed. It returns ErrInvalid if the pace is invalid, ErrConflict
// if the batch has completed, and ErrNotFound if it does not exist.
func (c *Client) SetPace(ctx context.Context, id int64, pace Pace) (Batch, error) {
	return c.act(ctx, id, func(b *Record) error {
		if !b.EndedAt.IsZero() {
			return illegal("change the pace of", b)
		}
		if pace.MaxRunning != nil {
			b.MaxRunning = *pace.MaxRunning
		}
		if pace.Rate != nil {
			b.Rate = *pace.Rate
		}
		var c complaints
		b.checkPace(&c)
		return fairlead.Invalid(c.Found...)
	})
}
