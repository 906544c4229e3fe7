package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Client enqueues and manages the jobs of a store. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client for the store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Enqueue stores all jobs or none, sets their IDs, and wakes nodes that can run them.
// It returns ErrInvalid for invalid jobs (see InvalidError), ErrConflict if a key is
// taken, and ErrLimit if a tenant would exceed its MaxPending.
func (c *Client) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.store.Enqueue(ctx, jobs)
}

// EnqueueOnce stores the jobs as Enqueue does, unless a call with the same caller and
// key has already succeeded: then it stores nothing and sets the jobs' IDs to those of
// the first call. It returns ErrConflict if the first call was a different request, and
// otherwise the same errors as Enqueue.
func (c *Client) EnqueueOnce(ctx context.Context, once Once, jobs ...*Job) (repeated bool, err error) {
	if err := NormalizeOnce(once); err != nil {
		return false, err
	}
	if err := NormalizeJobs(jobs); err != nil {
		return false, err
	}
	return c.store.EnqueueOnce(ctx, once, jobs)
}

// Within returns a client that enqueues and completes jobs inside the caller's
// transaction. Pass the result of the store's Tx method.
func (c *Client) Within(tx Tx) *TxClient { return &TxClient{tx: tx} }

// Get returns the job. It returns ErrNotFound for an unknown ID.
func (c *Client) Get(ctx context.Context, id int64) (*Job, error) { return c.store.Get(ctx, id) }

// Attempts lists the attempts of a job that failed, timed out or crashed, oldest first.
// The list is empty for an unknown job.
func (c *Client) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	return c.store.Attempts(ctx, id)
}

// Tally counts the matching jobs by state. States without jobs are absent from the
// result.
func (c *Client) Tally(ctx context.Context, filter Filter) (map[State]int64, error) {
	return c.store.Tally(ctx, filter)
}

// Page is one page of jobs.
type Page struct {
	Jobs []*Job // newest first
	Next int64  // value for Filter.Below to get the next page; zero on the last page
}

// DefaultPage is the maximum number of jobs that Find returns if the filter sets no
// limit.
const DefaultPage = 100

// Find returns one page of the matching jobs, newest first. Each call examines a
// bounded number of jobs. If few of very many jobs match, a page may therefore contain
// fewer jobs than the filter's limit, or none, and still have a next page.
func (c *Client) Find(ctx context.Context, filter Filter) (Page, error) {
	return c.store.FindPage(ctx, filter)
}

// TallyUpTo counts the matching jobs by state, up to about the given number of jobs.
// Count.More reports whether it stopped early. Zero counts all jobs.
func (c *Client) TallyUpTo(ctx context.Context, filter Filter, atMost int64) (Count, error) {
	return c.store.TallyUpTo(ctx, filter, atMost)
}

// Cancel ends a job that has not started, or asks a running job to stop. It returns
// ErrNotFound for an unknown job and ErrConflict for a finished one.
func (c *Client) Cancel(ctx context.Context, id int64, reason string) error {
	return c.store.Cancel(ctx, id, reason)
}

// Retry makes a failed or cancelled job ready again. It returns ErrNotFound for an
// unknown job and ErrConflict for a job in any other state. Retry also returns
// ErrConflict for a task of a batch, because the batch has already counted its end, and
// for a run of a schedule that already has as many active runs as it allows.
func (c *Client) Retry(ctx context.Context, id int64) error { return c.store.Reopen(ctx, id) }

// Reschedule sets the due time of a job that has not started. It returns ErrNotFound
// for an unknown job, ErrConflict for a job that has started or ended, and ErrInvalid
// for a time that is out of range.
func (c *Client) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	probe := Job{Kind: "probe", NotBefore: notBefore}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.Reschedule(ctx, id, notBefore)
}

// RunNow makes a scheduled job ready immediately. It returns ErrNotFound for an unknown
// job, and ErrConflict for a job that has started or ended.
func (c *Client) RunNow(ctx context.Context, id int64) error { return c.store.RunNow(ctx, id) }

// SetPriority changes the priority of an unfinished job. It returns ErrNotFound for an
// unknown job, ErrConflict for a finished one, and ErrInvalid for a priority beyond
// MaxPriority.
func (c *Client) SetPriority(ctx context.Context, id int64, priority int) error {
	probe := Job{Kind: "probe", Priority: priority}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.SetPriority(ctx, id, priority)
}

// SetQueue moves a job that has not started to another queue. It does not change the
// job's schedule, batch or sweep: the next run of a schedule still goes to the
// schedule's queue. SetQueue returns ErrNotFound for an unknown job, ErrConflict for a
// job that has started or ended, and ErrInvalid for an invalid name.
func (c *Client) SetQueue(ctx context.Context, id int64, queue string) error {
	probe := Job{Kind: "probe", Queue: queue}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.SetQueue(ctx, id, probe.Queue)
}

// Delete removes a job and its history. It returns ErrNotFound for an unknown job, and
// ErrConflict for a job that is running or waiting, or whose end its batch or sweep
// still needs.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.Delete(ctx, id) }

// DeleteSeen deletes a job that an earlier query returned. It returns ErrConflict if
// the job's State or Fence has changed since, so it never deletes a job that was
// retried in the meantime, and otherwise the same errors as Delete.
func (c *Client) DeleteSeen(ctx context.Context, seen *Job) error {
	return c.store.DeleteSeen(ctx, seen)
}

// PauseQueue stops all nodes from starting jobs of a queue until ResumeQueue is called.
// Running jobs continue. PauseQueue returns ErrInvalid for an invalid name.
func (c *Client) PauseQueue(ctx context.Context, queue string) error {
	return c.pause(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// ResumeQueue ends the pause of a queue. It has no effect on a queue that is not
// paused.
func (c *Client) ResumeQueue(ctx context.Context, queue string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// PauseKind stops all nodes from starting jobs of a kind until ResumeKind is called.
// Running jobs continue. PauseKind returns ErrInvalid for an invalid name.
func (c *Client) PauseKind(ctx context.Context, kind string) error {
	return c.pause(ctx, Pause{Scope: PauseKind, Name: kind})
}

// ResumeKind ends the pause of a kind. It has no effect on a kind that is not paused.
func (c *Client) ResumeKind(ctx context.Context, kind string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseKind, Name: kind})
}

// pause checks what is paused: it need not exist yet, but it must be able to.
func (c *Client) pause(ctx context.Context, pause Pause) error {
	var found complaints
	found.Name(string(pause.Scope), pause.Name, MaxName)
	if err := Invalid(found.Found...); err != nil {
		return err
	}
	return c.store.Pause(ctx, pause)
}

// Pauses lists all paused queues, kinds and tenants.
func (c *Client) Pauses(ctx context.Context) ([]Pause, error) { return c.store.Pauses(ctx) }

// Nodes lists the live nodes, and the dead nodes that are still on record.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) { return c.store.Nodes(ctx) }

// Drain asks a node to start no more jobs, or to continue. It returns ErrNotFound if
// the node is unknown or dead.
func (c *Client) Drain(ctx context.Context, node NodeID, drain bool) error {
	return c.store.Drain(ctx, node, drain)
}

// Resolve reports the result of a job whose handler returned Await. With a nil failure
// the job succeeds with the output. Otherwise the job fails, or is retried if the
// handler asked for that with OrRetry; a Fatal failure always ends the job.
//
// Resolve returns ErrLeaseLost if the fence is not the job's current one, ErrExpired
// after the deadline, and ErrConflict if the job already has a different answer.
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

// Extend moves the deadline of a job whose handler returned Await: the new deadline is
// the given duration from now, and never earlier than the old one. Extend also stores
// the progress that the job's target reports, and returns the deadline. The deadline is
// zero if the job has not moved to waiting yet; that move sets it. Extend returns the
// same errors as Resolve, and ErrConflict if the job already has an answer.
func (c *Client) Extend(ctx context.Context, extension Extension) (time.Time, error) {
	if err := CheckJSON("told", extension.Told); err != nil {
		return time.Time{}, err
	}
	return c.store.Extend(ctx, extension)
}

// Wait blocks until the job is final and returns it. It returns ErrNotFound for an
// unknown job, or the context's error if the context ends first.
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

// TxClient enqueues and completes jobs inside the caller's transaction.
type TxClient struct {
	tx Tx
}

// Enqueue stores jobs inside the transaction, like Client.Enqueue: they exist once it
// commits, and never if it rolls back. If you call Wake after the commit, nodes start them
// immediately. Otherwise they start once the store notices the commit: within about 10ms
// for a short transaction, within a second for one that stays open for up to a minute, and
// with the next poll after that.
func (c *TxClient) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.tx.Enqueue(ctx, jobs)
}

// Complete marks the running job as succeeded inside the transaction, so that the
// handler's effects and the job's end commit together. The handler returns nil after
// its commit.
//
// Complete returns ErrLeaseLost if the node has lost the job, or if the job is already
// completed: if the response to a commit was lost and the handler repeats its
// transaction, the first transaction may have committed. In either case roll back and
// return nil. The node then reports success. The store refuses that report if the job
// was taken away, and ignores it if the job has ended. (Returning an error changes
// nothing either; the store refuses it.)
//
// Call Complete once per transaction. Jobs that wait for this job's place under a limit
// or at its gate start when the handler has returned; the handler need not call Wake
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

// Wake notifies nodes of the jobs enqueued so far. Call it after the commit to start them
// immediately; without it they start once the store notices the commit.
func (c *TxClient) Wake() { c.tx.Wake() }
