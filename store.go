package fairlead

import (
	"context"
	"encoding/json"
	"time"
)

// Store keeps jobs in a SQL database. It holds the entire state. A node may vanish at any
// moment without any loss of state.
//
// # Places
//
// Every live or finished job is in exactly one place: scheduled, parked, ready, running,
// waiting or done. A move takes the job out of one place and puts it into another in one
// transaction, and it must find the job in the first place. Of two concurrent moves of the
// same job, exactly one therefore succeeds, and a reader finds the job exactly once.
//
// # Gates
//
// Jobs with a ConcurrencyKey pass a gate, which belongs to their kind, tenant and key. A
// gate has Limit.PerKey places if the kind sets it, and one place otherwise. A due job that
// has no place is parked. The gate admits parked jobs by priority, StartBy and ID, and they
// become ready.
//
// A job gives up its place when it ends, is deleted or is rescheduled to a future time.
// Otherwise it keeps the place: while it is ready, runs, or waits for its answer or its next
// attempt. There are therefore never more admitted jobs than places, unless the number of
// places was lowered. In that case the gate admits no job until the admitted jobs fit again.
//
// A call that frees or adds a place admits the next parked job before it returns. A Tx
// admits it in Wake, after the commit. Promote admits jobs left behind by a process that
// died in between.
//
// # Time
//
// Due times and leases follow the database's clock, which a move reads after it has taken
// its locks. Times have microsecond precision. If a handler, an answer or an operator
// chooses a time that is further from 1970 than MaxMicros, the store changes it to that
// limit. This prevents the far future from turning into now.
//
// # Errors
//
// Methods wrap ErrNotFound, ErrConflict, ErrInvalid, ErrLeaseLost and ErrExpired where their
// documentation says so. Any other error means that the outcome is unknown. The move may or
// may not have happened, and it is safe to repeat it. The store itself retries deadlocks and
// serialization failures.
//
// Every method wraps ErrUnavailable around an error that can pass without a change to the
// program or the schema. This includes a database that is read-only, full, out of memory or
// connections, starting, stopping, unreachable or cut off. It also includes a deadlock or
// lock whose retries were used up, and the store's own timeout if the caller would still
// have waited. If the caller's own context has ended, the caller gets that context's error.
//
// # Use
//
// All methods are safe for concurrent use. A store does not retain the slices or jobs that
// callers pass to it, and callers may modify the results. Package storetest is an executable
// form of this contract.
type Store interface {
	Enqueuer
	Reader
	Operator
	Governor
	Secrets
	Confider

	// Close releases the store's connections. Stop the nodes first. Later calls of Close
	// have no effect.
	Close() error
}

// Secrets stores the secrets that sign calls and answers.
type Secrets interface {
	// Secret returns the secret with the given name: random bytes that are created on the
	// first call and are the same for all callers.
	Secret(ctx context.Context, name string) ([]byte, error)
}

// Enqueuer adds new jobs to the store.
type Enqueuer interface {
	// Enqueue stores all jobs or none, sets their IDs, and wakes nodes that can run them.
	// A job that is due becomes ready, or parked if its gate is full; any other job
	// becomes scheduled. The caller has passed the jobs through NormalizeJobs. A zero
	// StartBy becomes the due time.
	//
	// Enqueue returns ErrConflict if a key is taken and the job's OnDuplicate is
	// RefuseDuplicate, or if it is ReplaceDuplicate and the holder is running, waiting or
	// finished. Under KeepDuplicate the job gets the holder's ID. Two jobs of one call with the same key
	// count as duplicates of each other; under ReplaceDuplicate the second replaces the
	// first. Enqueue returns ErrLimit if a tenant would have more pending jobs than its
	// MaxPending. IDs ascend within a call, and are set only on success.
	Enqueue(ctx context.Context, jobs []*Job) error
	// EnqueueOnce stores the jobs as Enqueue does, unless a call with the same caller and
	// key has already succeeded. Then it stores nothing, sets the jobs' IDs to those of
	// the first call and returns repeated = true. It returns ErrConflict if the first call
	// was a different request. Of concurrent callers exactly one enqueues. If the call
	// fails, the key remains free.
	//
	// Keys are forgotten after OnceWindow. A later request with the same key counts as a
	// first one and is remembered as such, even if it gets the same IDs as before. A call
	// without jobs remembers nothing. The caller has passed the request through
	// NormalizeOnce.
	EnqueueOnce(ctx context.Context, once Once, jobs []*Job) (repeated bool, err error)
}

// Tx is the caller's own database transaction. A store's Tx method creates it. Its changes
// become visible when the caller commits, and never if the caller rolls back.
type Tx interface {
	// Enqueue stores jobs inside the transaction, like Store.Enqueue. A call that returns
	// ErrConflict has stored and replaced nothing, and the caller may continue.
	Enqueue(ctx context.Context, jobs []*Job) error
	// Settle settles jobs inside the transaction, like Store.Settle, but only once: it
	// returns SettledLost for a settlement that was made before, even under the same
	// fence. If the response to a commit was lost although the commit succeeded, a caller
	// that starts again must therefore not commit its own effects a second time.
	Settle(ctx context.Context, settlements []Settlement) ([]Settled, error)
	// Wake notifies nodes of the jobs enqueued so far, and lets gates admit theirs. Call
	// it after the commit, or not at all: for a minute after the last call, the store
	// itself looks for the commit and then notifies nodes. It first looks after 10ms, and
	// then after pauses that double up to a second.
	Wake()
}

// Reader reads jobs and nodes. Each method reads from a single snapshot.
type Reader interface {
	// Get returns the job, or ErrNotFound.
	Get(ctx context.Context, id int64) (*Job, error)
	// Find returns the matching jobs, newest (largest ID) first. Like Tally it includes
	// changes by other processes immediately.
	Find(ctx context.Context, filter Filter) ([]*Job, error)
	// FindPage returns one page of the matching jobs, newest first, in bounded time: it
	// examines about as many jobs as fit on a few hundred pages. If few of them match, the
	// page is short or even empty. Page.Next is the position at which to continue, and is
	// zero only at the end. Following it returns every job that Find returns, exactly once.
	FindPage(ctx context.Context, filter Filter) (Page, error)
	// TallyUpTo counts the matching jobs by state in bounded time: it stops when it has
	// counted about atMost jobs, or examined a few times as many. Count.More then reports
	// that there may be further jobs. Zero counts all jobs.
	TallyUpTo(ctx context.Context, filter Filter, atMost int64) (Count, error)
	// Tally counts the matching jobs by state. States without jobs are absent.
	Tally(ctx context.Context, filter Filter) (map[State]int64, error)
	// Attempts lists the recorded attempts of a job, oldest first: those that failed,
	// timed out or crashed. It is empty for an unknown job.
	Attempts(ctx context.Context, id int64) ([]Attempt, error)
	// Nodes lists the live nodes, and dead ones that are still on record.
	Nodes(ctx context.Context) ([]Node, error)
	// Pauses lists all paused queues, kinds and tenants.
	Pauses(ctx context.Context) ([]Pause, error)
	// Now returns the time of the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Count contains the number of jobs in each state. States without jobs are absent.
type Count struct {
	States map[State]int64
	More   bool // counting stopped early: there may be more jobs
}

// Total returns the number of jobs in all states.
func (c Count) Total() (total int64) {
	for _, n := range c.States {
		total += n
	}
	return total
}

// Filter selects jobs. A job must match all fields that are set. An empty field matches
// every job.
type Filter struct {
	IDs     []int64
	States  []State
	Kinds   []string
	Queues  []string
	Tenants []string
	Key     string    // unique key of the job
	From    time.Time // created at this time or later
	To      time.Time // created before this time
	Below   int64     // only IDs below this one: the last ID of the previous page
	Limit   int       // maximum number of jobs that Find returns; zero means 100

	// FinishedFrom selects jobs that ended at this time or later, which excludes live
	// jobs. It quickly finds a few recent failures among very many jobs.
	FinishedFrom time.Time
	// OnFail selects jobs with this OnFail.
	OnFail OnFail
}

// Operator changes jobs on behalf of users and other programs.
type Operator interface {
	// Operate applies an operation to a job. It returns ErrNotFound if the job does not
	// exist, and ErrConflict if its state forbids the operation.
	Operate(ctx context.Context, id int64, operation Operation) error
	// Pause prevents claims of the jobs of a queue, a kind, or a tenant and its children:
	// none is claimed after Pause has returned. Pausing again replaces the reason if it
	// gives one, and otherwise has no effect. Pausing or resuming a declared tenant
	// increases its Version.
	Pause(ctx context.Context, pause Pause) error
	// Resume ends a pause, forgets its reason and wakes nodes. Resuming what is not paused has no effect.
	Resume(ctx context.Context, pause Pause) error
	// Drain asks a live node to start no more jobs, or to continue. The node learns of it
	// with its next beat. Drain returns ErrNotFound if the node is unknown or dead.
	Drain(ctx context.Context, node NodeID, drain bool) error
	// Resolve answers for a waiting job: the Move of its settlement is Succeed, Fail or
	// Again. Fail is a failed attempt: if the job's Await had a Retry, the job is
	// scheduled again after that pause, unless the answer is Final; otherwise it ends the
	// job.
	//
	// An answer that arrives before the job has moved to waiting is stored and consumed by
	// that move. Succeed, and a Fail that ends the job, then count even if the job was
	// asked to stop; a retry does not, and its pause begins with that move. If the node
	// dies before the move, the answer is lost with its run.
	//
	// Resolve returns ErrLeaseLost if the fence is not the job's current one and
	// ErrExpired after the deadline of the fence's run. It returns ErrConflict if the job
	// was cancelled while it waited or instead of being retried, or has a different answer
	// already, even if only the output differs. Repeating the same answer is allowed, even
	// if its text was changed to be stored. Memo and Progress are stored as those of a
	// settlement are. A move that is no answer is ErrInvalid. At the deadline either the
	// answer or Expire counts, never both.
	Resolve(ctx context.Context, answer Settlement) error
	// Extend gives a waiting job more time and stores the reported progress. The deadline
	// moves to extension.For from now, unless it is already later, and Extend returns it. If the
	// job has not moved to waiting yet, Extend only stores Told and returns zero: that move
	// sets the deadline. Extend returns ErrLeaseLost if the fence is not the job's current
	// one, ErrExpired after the deadline, and ErrConflict if the job already has an
	// answer, even before it moved to waiting, or has ended in another way. At the
	// deadline either Extend or Expire counts, never both.
	Extend(ctx context.Context, extension Extension) (time.Time, error)
}

// Extension reports on a waiting job before its answer arrives.
type Extension struct {
	ID    int64           // ID of the job
	Fence int64           // fence of the run that waits
	For   time.Duration   // time from now until the deadline; zero leaves it unchanged
	Told  json.RawMessage // progress reported by the target; nil leaves it unchanged
}

// Pause identifies a queue, kind or tenant to pause, or one that is paused.
type Pause struct {
	Scope  PauseScope
	Name   string // name of the queue, kind or tenant
	Reason string // reason for the pause, for people; at most MaxReason bytes. Resume ignores it
}

// PauseScope selects what a Pause applies to.
type PauseScope string

// The scopes of a pause.
const (
	PauseQueue  PauseScope = "queue"
	PauseKind   PauseScope = "kind"
	PauseTenant PauseScope = "tenant"
)

// Move is the next step of a running or waiting job.
type Move string

// The moves out of running.
const (
	Succeed     Move = "succeed" // to done
	Fail        Move = "fail"    // to done; recorded as an attempt
	Drop        Move = "drop"    // to done, as cancelled
	Again       Move = "again"   // to scheduled, or to ready if due; a failed attempt, recorded as an attempt
	Snooze      Move = "snooze"  // to scheduled, or to ready if due; not a failure
	MoveRelease Move = "release" // to ready; uses up no attempt number, but records that a handler had begun
	MoveAwait   Move = "await"   // to waiting
)

// Settlement describes how one run ends.
type Settlement struct {
	ID    int64 // ID of the job
	Fence int64 // fence of the run
	Move  Move  // next step of the job

	After    time.Duration   // Again, Snooze: delay from the database's now until the job is due. Await: time until the deadline
	At       time.Time       // Again, Snooze: due time, instead of After
	Output   json.RawMessage // Succeed: the result
	Reason   Reason          // Fail, Again, Drop: the reason
	Error    string          // Fail, Again, Drop: text of the failure
	Memo     json.RawMessage // stored for the next run if not nil
	Replace  *Job            // Succeed: job to enqueue in the same transaction; if its key is taken, the settled job fails with ReasonError
	Retry    *time.Duration  // Await: pause before the next attempt if no answer comes in time or the answer is Fail; nil means that either ends the job
	Final    bool            // Fail as an answer: it ends the job regardless of Retry
	FreeKey  bool            // whether the job has a Key or ConcurrencyKey to release; true is always correct
	Progress json.RawMessage // stored if not nil

	// Unstarted reports, for a Release, that no handler had begun, so the run cannot have
	// changed anything. Leave it false if that is not certain.
	Unstarted bool
}

// Settled reports the result of one settlement.
type Settled int

// The results of a settlement.
const (
	SettledAsAsked   Settled = iota // the job moved now, or (not in a Tx) had been moved by the same fence before
	SettledCancelled                // the job had been asked to stop and ended as cancelled
	SettledLost                     // the fence is not current; nothing was changed
	SettledHeld                     // an open transaction holds the job's rows (never in a Tx); nothing was changed; settle it again
)

// Save is a report that a handler makes while it runs.
type Save struct {
	ID       int64           // ID of the job
	Fence    int64           // fence of the run
	Progress json.RawMessage // nil leaves it unchanged
	Memo     json.RawMessage // nil leaves it unchanged
}
