package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Client enqueues and manages the jobs in a store. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client that manages the jobs in store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Enqueue stores either all jobs or none, sets their IDs, and wakes nodes that can run them.
// It returns ErrInvalid if a job is invalid (see InvalidError), ErrConflict if a job's key
// is taken, and ErrLimit if a tenant would exceed its MaxPending.
func (c *Client) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.store.Enqueue(ctx, jobs)
}

// EnqueueOnce stores jobs like Enqueue, unless a call with the same caller and key has
// already succeeded. In that case it stores nothing, sets the jobs' IDs to those of the
// earlier call and returns true. EnqueueOnce returns ErrConflict if the earlier call was a
// different request. Otherwise it returns the same errors as Enqueue.
func (c *Client) EnqueueOnce(ctx context.Context, once Once, jobs ...*Job) (repeated bool, err error) {
	if err := NormalizeOnce(once); err != nil {
		return false, err
	}
	if err := NormalizeJobs(jobs); err != nil {
		return false, err
	}
	return c.store.EnqueueOnce(ctx, once, jobs)
}

// Within returns a client that enqueues and completes jobs in the caller's transaction. Pass
// the result of the store's Tx method.
func (c *Client) Within(tx Tx) *TxClient { return &TxClient{tx: tx} }

// Get returns the job with the given ID. It returns ErrNotFound if the job does not exist.
func (c *Client) Get(ctx context.Context, id int64) (*Job, error) { return c.store.Get(ctx, id) }

// Attempts lists a job's attempts that failed, timed out or crashed, oldest first. The list
// is empty if the job does not exist.
func (c *Client) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	return c.store.Attempts(ctx, id)
}

// Tally counts the matching jobs by state. The result contains only states with jobs.
func (c *Client) Tally(ctx context.Context, filter Filter) (map[State]int64, error) {
	return c.store.Tally(ctx, filter)
}

// Page is one page of the jobs that match a filter.
type Page struct {
	Jobs []*Job // newest first
	Next int64  // value for Filter.Below to get the next page; zero on the last page
}

// DefaultPage is the maximum number of jobs that Find returns if the filter's Limit is zero.
const DefaultPage = 100

// Find returns one page of the matching jobs, newest first. Each call examines a bounded
// number of jobs. If only a few jobs match, a page may therefore contain fewer jobs than the
// filter's limit, or none, even though there is a next page.
func (c *Client) Find(ctx context.Context, filter Filter) (Page, error) {
	return c.store.FindPage(ctx, filter)
}

// TallyUpTo counts the matching jobs by state and stops after about atMost jobs. Count.More
// reports whether it stopped early. If atMost is zero, TallyUpTo counts all jobs.
func (c *Client) TallyUpTo(ctx context.Context, filter Filter, atMost int64) (Count, error) {
	return c.store.TallyUpTo(ctx, filter, atMost)
}

// Cancel cancels a job that has not started, or asks a running job to stop. It returns
// ErrNotFound if the job does not exist, and ErrConflict if the job is finished.
func (c *Client) Cancel(ctx context.Context, id int64, reason string) error {
	return c.store.Operate(ctx, id, Operation{Op: OpCancel, Reason: reason})
}

// Retry makes a failed or cancelled job ready again. It returns ErrNotFound if the job does
// not exist, and ErrConflict if the job is in any other state. Retry also returns
// ErrConflict for a batch task, because the batch has already counted the task's end, and
// for a scheduled run if its schedule already has the maximum number of active runs.
func (c *Client) Retry(ctx context.Context, id int64) error {
	return c.store.Operate(ctx, id, Operation{Op: OpReopen})
}

// Reschedule sets the due time of a job that has not started. It returns ErrNotFound if the
// job does not exist, ErrConflict if the job has started or ended, and ErrInvalid if
// notBefore is out of range.
func (c *Client) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	probe := Job{Kind: "probe", NotBefore: notBefore}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.Operate(ctx, id, Operation{Op: OpReschedule, NotBefore: notBefore})
}

// RunNow makes a scheduled job ready immediately. It returns ErrNotFound if the job does not
// exist, and ErrConflict if the job has started or ended.
func (c *Client) RunNow(ctx context.Context, id int64) error {
	return c.store.Operate(ctx, id, Operation{Op: OpRunNow})
}

// SetPriority changes the priority of an unfinished job. It returns ErrNotFound if the job
// does not exist, ErrConflict if the job is finished, and ErrInvalid if priority is beyond
// MaxPriority.
func (c *Client) SetPriority(ctx context.Context, id int64, priority int) error {
	probe := Job{Kind: "probe", Priority: priority}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.Operate(ctx, id, Operation{Op: OpSetPriority, Priority: priority})
}

// SetQueue moves a job that has not started to another queue. It does not change the job's
// schedule, batch or sweep: the schedule's next run still goes to the schedule's queue.
// SetQueue returns ErrNotFound if the job does not exist, ErrConflict if the job has started
// or ended, and ErrInvalid if the queue name is invalid.
func (c *Client) SetQueue(ctx context.Context, id int64, queue string) error {
	probe := Job{Kind: "probe", Queue: queue}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.Operate(ctx, id, Operation{Op: OpSetQueue, Queue: probe.Queue})
}

// Delete removes a job and its history. It returns ErrNotFound if the job does not exist. It
// returns ErrConflict if the job is running or waiting, or if its batch or sweep has yet to
// record the job's end.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.Operate(ctx, id, Operation{Op: OpDelete})
}

// DeleteSeen deletes a job that an earlier query returned. It returns ErrConflict if the
// job's State or Fence has changed since that query. DeleteSeen therefore never deletes a
// job that was retried in the meantime. Otherwise it returns the same errors as Delete.
func (c *Client) DeleteSeen(ctx context.Context, seen *Job) error {
	return c.store.Operate(ctx, seen.ID, Operation{Op: OpDelete, Seen: seen})
}

// PauseQueue stops all nodes from starting jobs in a queue until ResumeQueue is called.
// Running jobs continue. PauseQueue returns ErrInvalid if the queue name is invalid.
func (c *Client) PauseQueue(ctx context.Context, queue string) error {
	return c.Pause(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// ResumeQueue resumes a paused queue. It has no effect if the queue is not paused.
func (c *Client) ResumeQueue(ctx context.Context, queue string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// PauseKind stops all nodes from starting jobs of a kind until ResumeKind is called. Running
// jobs continue. PauseKind returns ErrInvalid if the kind's name is invalid.
func (c *Client) PauseKind(ctx context.Context, kind string) error {
	return c.Pause(ctx, Pause{Scope: PauseKind, Name: kind})
}

// ResumeKind resumes a paused kind. It has no effect if the kind is not paused.
func (c *Client) ResumeKind(ctx context.Context, kind string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseKind, Name: kind})
}

// Pause stops all nodes from starting jobs of a queue, a kind, or a tenant and its children
// until it is resumed, and records a reason. Running jobs continue. Pausing again replaces
// the reason if it gives one. Pause returns ErrInvalid if the name or the reason is invalid.
func (c *Client) Pause(ctx context.Context, pause Pause) error {
	var found complaints
	found.Name(string(pause.Scope), pause.Name, MaxName)
	if len(pause.Reason) > MaxReason {
		found.Refuse("reason", "has %d bytes; at most %d are allowed", len(pause.Reason), MaxReason)
	} else {
		found.Text("reason", pause.Reason)
	}
	if err := Invalid(found.Found...); err != nil {
		return err
	}
	return c.store.Pause(ctx, pause)
}

// Pauses lists all paused queues, kinds and tenants.
func (c *Client) Pauses(ctx context.Context) ([]Pause, error) { return c.store.Pauses(ctx) }

// Nodes lists the live nodes and the dead nodes that are still on record.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) { return c.store.Nodes(ctx) }

// Drain asks a node to stop starting jobs if drain is true, and to resume starting them if
// drain is false. It returns ErrNotFound if the node is unknown or dead.
func (c *Client) Drain(ctx context.Context, node NodeID, drain bool) error {
	return c.store.Drain(ctx, node, drain)
}

// Resolve reports the result of a job whose handler returned Await. If failure is nil, the
// job succeeds with the given output. Otherwise the job fails. If the handler used OrRetry,
// the job is retried instead, unless failure is Fatal.
//
// Resolve returns ErrLeaseLost if fence is not the job's current fence, ErrExpired if the
// deadline has passed, and ErrConflict if the job already has a different answer.
func (c *Client) Resolve(ctx context.Context, id, fence int64, output json.RawMessage, failure error) error {
	if err := CheckJSON("output", output); err != nil {
		return err
	}
	answer := Settlement{ID: id, Fence: fence, Move: Succeed, Output: output, FreeKey: true}
	if failure != nil {
		answer.Move, answer.Output = Fail, nil
		answer.Reason, answer.Error = ReasonError, failure.Error()
		var chosen *Outcome
		answer.Final = errors.As(failure, &chosen) && chosen.move == Fail
	}
	return c.store.Resolve(ctx, answer)
}

// Extend extends the deadline of a job whose handler returned Await. The new deadline is the
// given duration from now, but never earlier than the old deadline. Extend also stores the
// progress that the job's target reports. It returns the new deadline. If the job is not
// waiting yet, Extend returns the zero time, and the deadline is set when the job starts
// waiting. Extend returns the same errors as Resolve, and ErrConflict if the job already has
// an answer.
func (c *Client) Extend(ctx context.Context, extension Extension) (time.Time, error) {
	if err := CheckJSON("told", extension.Told); err != nil {
		return time.Time{}, err
	}
	return c.store.Extend(ctx, extension)
}

// Wait blocks until the job is final and returns it. It returns ErrNotFound if the job does
// not exist, and the context's error if the context ends first.
func (c *Client) Wait(ctx context.Context, id int64) (*Job, error) {
	const first, slowest = 2 * time.Millisecond, 500 * time.Millisecond
	for pause := first; ; pause = min(2*pause, slowest) {
		job, err := c.store.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if job.State.Final() {
			return job, nil
		}
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// TxClient enqueues and completes jobs in the caller's transaction.
type TxClient struct {
	tx Tx
}

// Enqueue stores jobs in the transaction, like Client.Enqueue. The jobs exist once the
// transaction commits, and never if it rolls back. If you call Wake after the commit, nodes
// start the jobs immediately. Otherwise nodes start them once the store notices the commit:
// within about 10ms if the transaction was short, and within a second if it was open for up
// to a minute. After longer transactions, the next poll finds the jobs.
func (c *TxClient) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.tx.Enqueue(ctx, jobs)
}

// Complete marks the running job as succeeded in the transaction. The handler's effects and
// the job's end then commit together. The handler returns nil after its commit.
//
// Complete returns ErrLeaseLost if the node has lost the job, or if the job is already
// completed. The second case occurs if the response to a commit was lost and the handler
// repeats its transaction, because the first transaction may have committed. In either case,
// roll back and return nil. The node then reports success. The store rejects that report if
// the job was taken away, and ignores it if the job has ended. Returning an error instead
// has no effect, because the store rejects it too.
//
// Call Complete once per transaction. If other jobs wait for this job's place under a limit
// or at its gate, they start when the handler has returned. The handler need not call Wake
// for them.
func (c *TxClient) Complete(ctx context.Context, job *Job, output json.RawMessage) error {
	settled, err := c.tx.Settle(ctx, []Settlement{{ID: job.ID, Fence: job.Fence, Move: Succeed, Output: output, FreeKey: true}})
	if err != nil {
		return err
	}
	if settled[0] != SettledAsAsked {
		return ErrLeaseLost
	}
	return nil
}

// Wake notifies nodes of the jobs that were enqueued so far. Call it after the commit to
// start the jobs immediately. Without Wake, they start once the store notices the commit.
func (c *TxClient) Wake() { c.tx.Wake() }
