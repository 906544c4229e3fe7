package fairlead

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps jobs in a SQL database. It is the whole truth: what is not in
// the store does not exist, and a node may vanish at any instant without
// losing any of it.
//
// # Where a job is
//
// Every live or finished job is in exactly one place: scheduled, parked, ready,
// running, waiting or done. A move takes it out of one place and puts it into
// another in one transaction, and the taking out must hit: of two concurrent
// moves of one job exactly one wins, and a reader finds the job exactly once.
//
// # Gates
//
// Jobs with a ConcurrencyKey pass a gate: that of their kind, tenant and key. It
// has as many places as Limit.PerKey of the kind says, else one. A due job that
// has no place is parked; the gate admits parked jobs by priority, StartBy and
// ID, and they become ready. A job gives its place back when it ends, is deleted
// or is rescheduled to a time that is to come, and keeps it otherwise: while it
// is ready, runs, waits for its answer or for its next attempt. So at no instant
// have more jobs a place than there are, unless their number was lowered: then
// no job is admitted until it fits again. Whatever gives back a place, or adds
// one, has admitted the next job when it returns; a Tx when it is committed and
// woken; Promote admits those that were left behind.
//
// # Time
//
// Due times and leases are judged by the database's clock, read after the
// locks of the move were taken. Times are kept to the microsecond. One that is
// further from 1970 than MaxMicros counts as so far away, whether a
// handler, an answer or an operator chose it: the far future is never now.
//
// # Errors
//
// Methods wrap ErrNotFound, ErrConflict, ErrInvalid, ErrLeaseLost and
// ErrExpired where they say so. Any other error means that the outcome is
// unknown: the move may or may not have happened, and repeating it is safe.
// Deadlocks and serialization failures are retried inside the store.
//
// Every method wraps ErrUnavailable around an error that passes without a change
// of the program or of the schema: the database is read-only, full, out of memory
// or connections, starting, stopping, not reached or cut off, the retries of a
// deadlock or lock were used up, or the store's own timeout was over while the
// caller would still have waited. A caller whose own context has ended gets that
// context's error.
//
// # Use
//
// All methods may be called by many goroutines at once. A store does not keep
// slices or jobs it was given, and a caller may change what it got back.
// storetest is this contract as an executable suite.
type Store interface {
	Enqueuer
	Reader
	Operator
	Governor
	Secrets
	Confider

	// Close releases the store's connections. Nodes are to be stopped first.
	// Closing twice is fine.
	Close() error
}

// Secrets keeps what signs calls and answers.
type Secrets interface {
	// Secret returns the secret of that name: random bytes, the same for all who
	// ever ask, made when it is first asked for.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// Enqueuer puts new jobs into the store.
type Enqueuer interface {
	// Enqueue stores all jobs or none, sets their IDs, and wakes nodes that
	// may run them. A job that is due goes to ready, or to parked if its gate is
	// full; any other to scheduled.
	// Jobs have been through NormalizeJobs. A zero StartBy becomes the due
	// time. It fails with ErrConflict if a key is taken and the job says
	// RefuseDuplicate, or says ReplaceDuplicate and the holder is running,
	// waiting or finished; under KeepDuplicate the job gets the holder's ID.
	// Two jobs of one call with the same key count as duplicates of each other;
	// under ReplaceDuplicate the second replaces the first. It fails with ErrLimit
	// if a tenant would have more jobs pending than its MaxPending. IDs ascend
	// within a call, and are set only on success.
	Enqueue(ctx context.Context, jobs []*Job) error
	// EnqueueOnce is Enqueue, unless it has succeeded with the same caller and key
	// before: then it stores nothing, gives the jobs the IDs of that time and
	// reports it as repeated. It fails with ErrConflict if that was another
	// request. Of callers at the same instant one enqueues. If it fails, the key is
	// as free as before. Keys are forgotten after OnceWindow; a request after that
	// is a first one and remembered as such, even if it gets the IDs it got before.
	// Without jobs nothing is remembered. The request has been through NormalizeOnce.
	EnqueueOnce(ctx context.Context, once Once, jobs []*Job) (repeated bool, err error)
}

// Tx is the caller's own database transaction, made by the Tx method of a
// store. What it does becomes visible when the caller commits, and never if
// the caller rolls back.
type Tx interface {
	// Enqueue is Store.Enqueue inside the transaction. A call that conflicts has stored
	// nothing and replaced nothing: the caller may go on.
	Enqueue(ctx context.Context, jobs []*Job) error
	// Settle is Store.Settle inside the transaction, but counts once: a settlement
	// that was made before is lost here, even under the same fence. A caller whose
	// commit succeeded without saying so, and who begins anew, must not commit its
	// own effects again.
	Settle(ctx context.Context, settlements []Settlement) ([]Settled, error)
	// Wake notifies nodes of the jobs enqueued so far, and lets gates admit theirs. Call it
	// after the commit, or not at all: the store looks for the commit itself, for a minute
	// after the last call, and then notifies nodes a few milliseconds later.
	Wake()
}

// Reader answers questions. Every answer comes from one snapshot.
type Reader interface {
	// Get returns the job, or ErrNotFound.
	Get(ctx context.Context, id int64) (*Job, error)
	// Find returns the jobs that match, newest (largest ID) first. Like Tally
	// it sees at once what another process has stored.
	Find(ctx context.Context, filter Filter) ([]*Job, error)
	// FindPage is Find for answers that must come soon, whatever is stored: it looks at
	// a bounded number of jobs, about as many as a few hundred pages have. If few of
	// them match, the page is short, or even empty; Next of the page says where to go
	// on, and is zero only if there is nothing more to look at. Following it finds
	// every job that Find does, once.
	FindPage(ctx context.Context, filter Filter) (Page, error)
	// TallyUpTo is Tally for answers that must come soon: it stops when it has counted
	// about so many jobs, or looked at a few times as many. More then says that there
	// may be more. With zero it counts all.
	TallyUpTo(ctx context.Context, filter Filter, atMost int64) (Count, error)
	// Tally counts the jobs that match by state. States without jobs are absent.
	Tally(ctx context.Context, filter Filter) (map[State]int64, error)
	// Attempts lists the recorded runs of a job, oldest first: those that
	// failed, timed out or crashed. It is empty for an unknown job.
	Attempts(ctx context.Context, id int64) ([]Attempt, error)
	// Nodes lists the nodes that are alive and those not yet forgotten.
	Nodes(ctx context.Context) ([]Node, error)
	// Pauses lists what is paused.
	Pauses(ctx context.Context) ([]Pause, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Count is how many jobs there are in each state; states without jobs are absent.
type Count struct {
	States map[State]int64
	More   bool // there may be more of them: it was not counted on
}

// Total is how many there are in all states.
func (c Count) Total() (total int64) {
	for _, n := range c.States {
		total += n
	}
	return total
}

// Filter chooses jobs. Empty fields choose all; of several fields all must match.
type Filter struct {
	IDs     []int64
	States  []State
	Kinds   []string
	Queues  []string
	Tenants []string
	Key     string
	From    time.Time // created then or later
	To      time.Time // created earlier
	Below   int64     // only IDs smaller than this: the last ID of the page before
	Limit   int       // of Find; zero means 100

	// FinishedFrom chooses jobs that ended then or later, and none that is live. It
	// finds the few that failed lately among very many.
	FinishedFrom time.Time
	// OnFail chooses jobs that are kept, or removed, when they have failed.
	OnFail OnFail
}

// Operator is what people and programs do to jobs from outside. Each method
// fails with ErrNotFound for an unknown ID and with ErrConflict, changing
// nothing, where it says that a state forbids it.
type Operator interface {
	// Cancel ends a scheduled, ready, parked or waiting job as cancelled. A
	// running job is asked to stop: its node hears of it with the next beat,
	// and unless its handler succeeds the job then ends as cancelled instead of
	// being retried, released or awaited. Of several wishes the first counts.
	// Finished jobs conflict.
	Cancel(ctx context.Context, id int64, reason string) error
	// Reopen makes a failed or cancelled job ready or parked again, with its failures and
	// crashes forgotten, its memo, its order and its numbering of runs kept. It
	// takes the job's key again and conflicts if another job holds it. So do tasks of batches,
	// and runs of a schedule while as many others are active as its MaxConcurrency allows,
	// unless its Concurrency lets runs be parallel. Other states conflict.
	Reopen(ctx context.Context, id int64) error
	// Reschedule sets when a scheduled, parked or ready job becomes due; a time
	// that has come makes it ready, or parked if it has no place. Its StartBy moves along if it was the due time. Other
	// states conflict.
	Reschedule(ctx context.Context, id int64, notBefore time.Time) error
	// RunNow makes a scheduled job ready at once, or parked if it has no place; one
	// that is ready or parked stays as it is. A StartBy that was the due time becomes now if it is still to come. Other
	// states conflict.
	RunNow(ctx context.Context, id int64) error
	// SetPriority changes the priority of a job, at once while it waits for a
	// slot, from its next attempt on while it runs. Finished jobs conflict.
	SetPriority(ctx context.Context, id int64, priority int) error
	// SetQueue moves a scheduled, parked or ready job to another queue. Its order, its due time,
	// its key and its place at its gate stay, and nodes that serve the queue are woken. A job
	// that is in the queue stays as it is. Other states conflict.
	SetQueue(ctx context.Context, id int64, queue string) error
	// Delete removes a job and all that is known of it. Running and waiting
	// jobs conflict. So do tasks that their batch has not counted yet, and jobs of
	// shards that have not ended while their sweep runs. For a run whose end its schedule has
	// not counted yet, the schedule counts how it ended, or counts it as cancelled if it
	// never began.
	Delete(ctx context.Context, id int64) error
	// DeleteSeen is Delete for callers that found a job and must not remove what became of
	// it since: it conflicts unless the job is in the same State and under the same Fence as
	// seen. Both are compared in the transaction that removes the job.
	DeleteSeen(ctx context.Context, seen *Job) error
	// Pause stops jobs of a queue, a kind, or a tenant and its children from
	// being claimed: none is claimed after Pause has returned. Pausing twice is
	// one pause. A declared tenant that is paused or resumed gets a larger Version.
	Pause(ctx context.Context, pause Pause) error
	// Resume undoes Pause and wakes nodes. Resuming what is not paused is fine.
	Resume(ctx context.Context, pause Pause) error
	// Drain asks a live node to start nothing more, or to go on: it hears of it with
	// its next beat. It fails with ErrNotFound if the node is unknown or dead.
	Drain(ctx context.Context, node NodeID, drain bool) error
	// Resolve answers for a waiting job: its Move is Succeed, Fail or Again. Fail is a
	// failed attempt: if the job's Await had a Retry, the job is scheduled again after
	// that pause, unless the answer is Final; otherwise it ends the job. An answer that overtakes the job's move to waiting is kept and consumed by
	// that move: Succeed and a Fail that ends the job count even if the job was asked to
	// stop, a retry does not, and its pause begins with that move. If the node dies before, the
	// answer is lost with its run. It fails with ErrLeaseLost if the fence is not
	// the job's, with ErrExpired after the deadline of the fence's run, and with ErrConflict if the
	// job was cancelled while it waited or instead of being retried, or has been
	// answered differently, even if only the output differs; the same answer again is
	// fine, also if its text was changed to be stored. Its Memo and Progress are kept
	// as those of a settlement are. A move that is no answer is ErrInvalid. At the
	// deadline either the answer counts or Expire, never both.
	Resolve(ctx context.Context, answer Settlement) error
	// Extend gives a waiting job more time and keeps what is reported of it: its deadline
	// becomes For from now unless it is later already. It returns the deadline. Of a
	// job that has still to move to waiting only Told is kept: that move sets the
	// deadline, and what is returned is zero. It fails with ErrLeaseLost if the fence
	// is not the job's, with ErrExpired after the deadline, and with ErrConflict if
	// the job has been answered, even before it moved to waiting, or has ended
	// otherwise. At the deadline either it counts or Expire, never both.
	Extend(ctx context.Context, extension Extension) (time.Time, error)
}

// Extension is what is heard of a waiting job before its answer.
type Extension struct {
	ID    int64
	Fence int64
	For   time.Duration   // from now until the deadline; zero: as it was
	Told  json.RawMessage // how far its target is; nil: as it was
}

// Pause names what is paused: one queue, one kind or one tenant.
type Pause struct {
	Scope PauseScope
	Name  string
}

// PauseScope says what a Pause names.
type PauseScope string

// The scopes of a pause.
const (
	PauseQueue  PauseScope = "queue"
	PauseKind   PauseScope = "kind"
	PauseTenant PauseScope = "tenant"
)

// Move is what becomes of a running (or waiting) job.
type Move string

// The moves out of running.
const (
	Succeed     Move = "succeed" // to done
	Fail        Move = "fail"    // to done; recorded as an attempt
	Drop        Move = "drop"    // to done as cancelled
	Again       Move = "again"   // to scheduled, or to ready if due: a failed attempt; recorded as an attempt
	Snooze      Move = "snooze"  // to scheduled, or to ready if due: not a failure
	MoveRelease Move = "release" // to ready: uses up no attempt number; that a handler had begun is kept
	MoveAwait   Move = "await"   // to waiting
)

// Settlement is the end of one run.
type Settlement struct {
	ID    int64
	Fence int64
	Move  Move

	After    time.Duration   // Again, Snooze: due so long after the database's now. Await: time until the deadline
	At       time.Time       // Again, Snooze: due then, instead of After
	Output   json.RawMessage // Succeed
	Reason   Reason          // Fail, Again, Drop
	Error    string          // Fail, Again, Drop
	Memo     json.RawMessage // kept for the next run if not nil
	Replace  *Job            // Succeed: enqueued in the same transaction; if its key is taken, the job fails with ReasonError
	Retry    *time.Duration  // Await: pause before the next attempt if no answer comes in time or it is Fail; nil: that ends the job
	Final    bool            // Fail of an answer: it ends the job whatever Retry says
	FreeKey  bool            // whether the job has a Key or ConcurrencyKey to give back; true is always right
	Progress json.RawMessage // kept if not nil

	// Unstarted says of a Release that no handler had begun, so that nothing can have
	// been changed. A caller that does not know leaves it false.
	Unstarted bool
}

// Settled says what became of one settlement.
type Settled int

// What a settlement can lead to.
const (
	SettledAsAsked   Settled = iota // moved now, or (not in a Tx) found to have been moved by the same fence before
	SettledCancelled                // it had been asked to stop: it ended as cancelled
	SettledLost                     // the fence is not current: nothing was changed
	SettledHeld                     // an open transaction holds the job's rows (never in a Tx): nothing was changed; settle it again
)

// Save is what a handler reports while it runs.
type Save struct {
	ID       int64
	Fence    int64
	Progress json.RawMessage // nil: as it was
	Memo     json.RawMessage // nil: as it was
}
