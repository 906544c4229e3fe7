package fairlead

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Client is how programs use a store. It may be used by many goroutines.
type Client struct {
	store Store
}

// NewClient makes a client of a store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Enqueue stores all jobs or none, sets their IDs, and wakes nodes that may
// run them. It fails with ErrInvalid (see InvalidError) or, for a taken key,
// with ErrConflict.
func (c *Client) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.store.Enqueue(ctx, jobs)
}

// EnqueueOnce is Enqueue, unless it has succeeded with the same caller and key
// before: then the jobs get the IDs of that time. It fails with ErrConflict if
// that was another request, and else as Enqueue does.
func (c *Client) EnqueueOnce(ctx context.Context, once Once, jobs ...*Job) (repeated bool, err error) {
	if err := NormalizeOnce(once); err != nil {
		return false, err
	}
	if err := NormalizeJobs(jobs); err != nil {
		return false, err
	}
	return c.store.EnqueueOnce(ctx, once, jobs)
}

// Within is the client inside the caller's own transaction: see the Tx method
// of the store in use.
func (c *Client) Within(tx Tx) *TxClient { return &TxClient{tx: tx} }

// Get returns the job, or ErrNotFound.
func (c *Client) Get(ctx context.Context, id int64) (*Job, error) { return c.store.Get(ctx, id) }

// Attempts lists the runs of a job that failed, timed out or crashed.
func (c *Client) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	return c.store.Attempts(ctx, id)
}

// Tally counts the jobs that match by state.
func (c *Client) Tally(ctx context.Context, filter Filter) (map[State]int64, error) {
	return c.store.Tally(ctx, filter)
}

// Page is one page of jobs.
type Page struct {
	Jobs []*Job
	Next int64 // Filter.Below of the next page; zero if this is the last
}

// DefaultPage is how many jobs Find returns if the filter does not say.
const DefaultPage = 100

// Find returns the jobs that match, newest first, a page at a time. A page may have
// fewer jobs than the filter's limit, or none, and still have a next one: where few of
// very many jobs match, each page looks at some of them.
func (c *Client) Find(ctx context.Context, filter Filter) (Page, error) {
	return c.store.FindPage(ctx, filter)
}

// TallyUpTo counts the jobs that match by state. It stops when it has counted about so many,
// and says so; with zero it counts all.
func (c *Client) TallyUpTo(ctx context.Context, filter Filter, atMost int64) (Count, error) {
	return c.store.TallyUpTo(ctx, filter, atMost)
}

// Cancel ends a job that has not started, or asks a running one to stop. It
// fails with ErrNotFound or, for a finished job, with ErrConflict.
func (c *Client) Cancel(ctx context.Context, id int64, reason string) error {
	return c.store.Cancel(ctx, id, reason)
}

// Retry makes a failed or cancelled job ready again. It fails with ErrNotFound
// or ErrConflict, also if the job is a task of a batch, which has counted its end, or a
// run of a schedule of which as many runs are active as may be.
func (c *Client) Retry(ctx context.Context, id int64) error { return c.store.Reopen(ctx, id) }

// Reschedule sets when a job that has not started becomes due. It fails with
// ErrNotFound or ErrConflict.
func (c *Client) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	probe := Job{Kind: "probe", NotBefore: notBefore}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.Reschedule(ctx, id, notBefore)
}

// RunNow makes a scheduled job ready at once. It fails with ErrNotFound or
// ErrConflict.
func (c *Client) RunNow(ctx context.Context, id int64) error { return c.store.RunNow(ctx, id) }

// SetPriority changes the priority of an unfinished job. It fails with
// ErrNotFound, ErrConflict or ErrInvalid.
func (c *Client) SetPriority(ctx context.Context, id int64, priority int) error {
	probe := Job{Kind: "probe", Priority: priority}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.SetPriority(ctx, id, priority)
}

// SetQueue moves a job that has not started to another queue. What made the job does not
// follow: a schedule puts its next run where it always did. It fails with ErrNotFound,
// ErrConflict or ErrInvalid.
func (c *Client) SetQueue(ctx context.Context, id int64, queue string) error {
	probe := Job{Kind: "probe", Queue: queue}
	if err := NormalizeJobs([]*Job{&probe}); err != nil {
		return err
	}
	return c.store.SetQueue(ctx, id, probe.Queue)
}

// Delete removes a job that is not running, with its history. It fails with
// ErrNotFound or ErrConflict.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.Delete(ctx, id) }

// DeleteSeen is Delete for a job that was found by a query. It fails with ErrConflict if the
// job has changed its State or its Fence since: a job that was retried meanwhile stays.
func (c *Client) DeleteSeen(ctx context.Context, seen *Job) error {
	return c.store.DeleteSeen(ctx, seen)
}

// PauseQueue stops jobs of a queue from starting, on all nodes, until
// ResumeQueue. Running jobs go on.
func (c *Client) PauseQueue(ctx context.Context, queue string) error {
	return c.pause(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// ResumeQueue undoes PauseQueue.
func (c *Client) ResumeQueue(ctx context.Context, queue string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseQueue, Name: queue})
}

// PauseKind stops jobs of a kind from starting, on all nodes, until
// ResumeKind. Running jobs go on.
func (c *Client) PauseKind(ctx context.Context, kind string) error {
	return c.pause(ctx, Pause{Scope: PauseKind, Name: kind})
}

// ResumeKind undoes PauseKind.
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

// Pauses lists what is paused.
func (c *Client) Pauses(ctx context.Context) ([]Pause, error) { return c.store.Pauses(ctx) }

// Nodes lists the nodes that are alive and those not yet forgotten.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) { return c.store.Nodes(ctx) }

// Drain asks a node to start nothing more, or to go on. It fails with
// ErrNotFound if the node is unknown or dead.
func (c *Client) Drain(ctx context.Context, node NodeID, drain bool) error {
	return c.store.Drain(ctx, node, drain)
}

// Resolve answers for a job whose handler returned Await: a nil failure makes
// it succeed with the output. Otherwise it fails, or is tried again if the handler
// wanted that (see OrRetry); a failure that is Fatal ends the job in any case. It fails with ErrLeaseLost if
// the fence is not the job's, ErrExpired after the deadline, and ErrConflict if
// the job was answered differently before.
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

// Extend gives a job whose handler returned Await more time, from now until its
// deadline, and keeps what its target tells of its progress. It returns the
// deadline, which never moves back; zero if the job has still to move to waiting,
// which sets it. It fails as Resolve does, and with ErrConflict if the job was
// answered before.
func (c *Client) Extend(ctx context.Context, extension Extension) (time.Time, error) {
	if err := CheckJSON("told", extension.Told); err != nil {
		return time.Time{}, err
	}
	return c.store.Extend(ctx, extension)
}

// Wait returns the job once it is final. It fails with ErrNotFound, or with
// the context's error when that ends first.
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

// TxClient is a Client inside the caller's transaction.
type TxClient struct {
	tx Tx
}

// Enqueue is Client.Enqueue inside the transaction: the jobs exist when it
// commits, and never if it rolls back. Nodes start them a few milliseconds after the
// commit, or at once if you call Wake then.
func (c *TxClient) Enqueue(ctx context.Context, jobs ...*Job) error {
	if len(jobs) == 0 {
		return nil
	}
	if err := NormalizeJobs(jobs); err != nil {
		return err
	}
	return c.tx.Enqueue(ctx, jobs)
}

// Complete ends the running job as succeeded inside the transaction, so that
// the handler's effects and the job's end commit together. The handler returns
// nil after its commit. Complete fails with ErrLeaseLost if the job has been taken
// away, or was completed before: if the answer of a commit is lost and the handler
// runs its transaction anew, what the first one did may be committed. In either
// case roll back and return nil: the node then says that the job succeeded, which
// is refused if it was taken away and changes nothing if it has ended. (An error
// changes nothing either; it is refused.) Call it once in a transaction. Jobs that wait
// for the job's place under a limit or at its gate start when the handler has returned;
// there is no need to call Wake.
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
// a few milliseconds earlier; without it the store notices the commit itself.
func (c *TxClient) Wake() { c.tx.Wake() }
