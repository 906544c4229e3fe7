package fairlead

import (
	"encoding/json"
	"time"
)

// State is a stage in a job's life. A job is in exactly one state at any time.
type State string

// The states of a job. The first five are live, the others are final.
const (
	Scheduled State = "scheduled" // not due yet, or backing off before its next attempt
	Ready     State = "ready"     // due and waiting for a slot
	Parked    State = "parked"    // due and waiting to be admitted by its gate
	Running   State = "running"   // leased to a node
	Waiting   State = "waiting"   // accepted by a target and awaiting its answer; occupies no slot
	Succeeded State = "succeeded" // ended successfully
	Failed    State = "failed"    // ended by a failure
	Cancelled State = "cancelled" // ended by cancellation
	Skipped   State = "skipped"   // recorded without running
)

// States lists every state in the order of a job's life.
func States() []State {
	return []State{Scheduled, Ready, Parked, Running, Waiting, Succeeded, Failed, Cancelled, Skipped}
}

// Final reports whether a job in this state has ended.
func (s State) Final() bool {
	switch s {
	case Succeeded, Failed, Cancelled, Skipped:
		return true
	}
	return false
}

// Reason identifies why a job or one of its attempts did not succeed.
type Reason string

// The reasons for which an attempt or a job can end.
const (
	ReasonNone     Reason = ""         // no reason recorded
	ReasonError    Reason = "error"    // the handler returned an error
	ReasonFatal    Reason = "fatal"    // the handler returned Fatal
	ReasonPanic    Reason = "panic"    // the handler panicked
	ReasonTimeout  Reason = "timeout"  // the attempt took longer than its timeout
	ReasonDeadline Reason = "deadline" // no answer came while the job was waiting
	ReasonCrash    Reason = "crash"    // the node running the attempt died
	ReasonPoison   Reason = "poison"   // the job was running in too many node crashes
	ReasonReplaced Reason = "replaced" // another job replaced it

	ReasonLeaseLost Reason = "lease_lost" // the node lost its lease without a crash: its process survived, or the attempt had not started
)

// Never is the NotBefore of a queued run, which waits for an earlier run of its schedule and
// has no due time of its own. Never is later than any time for which a job can be scheduled,
// and has the same value to the microsecond in every store.
var Never = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// Names used for jobs that set none.
const (
	DefaultQueue  = "default" // queue of a job that names none
	DefaultTenant = "default" // tenant of a job that names none
)

// Common priorities. Any integer from -MaxPriority to MaxPriority is valid; jobs with a
// higher priority start first.
const (
	Low         = -10   // for jobs that can wait
	Normal      = 0     // the default
	High        = 10    // for urgent jobs
	MaxPriority = 32000 // largest priority
)

// OnDuplicate selects what Enqueue does if a job's key is already taken.
type OnDuplicate string

// The ways to handle a taken key.
const (
	RefuseDuplicate  OnDuplicate = "error"   // Enqueue returns ErrConflict (the default)
	KeepDuplicate    OnDuplicate = "keep"    // the existing job stays; the new job gets its ID and is not stored
	ReplaceDuplicate OnDuplicate = "replace" // the existing job is cancelled; if it is running, waiting or finished, Enqueue returns ErrConflict
)

// KeyScope selects how long a job holds its key.
type KeyScope string

// The scopes of a key.
const (
	KeyLive    KeyScope = "live"    // until the job is final (the default)
	KeyForever KeyScope = "forever" // until the finished job is pruned or deleted
)

// OnCrash selects what happens to a job whose node died while running it.
type OnCrash string

// The ways to handle a crash.
const (
	Revive        OnCrash = "revive" // it runs again (the default)
	CancelOnCrash OnCrash = "cancel" // it ends as cancelled
)

// OnFail selects what happens to a job that has failed for good.
type OnFail string

// The ways to handle a job that has failed for good.
const (
	KeepFailed   OnFail = "keep"   // the failed job is kept for the retention period (the default)
	RemoveFailed OnFail = "remove" // the job is removed with its history once RemoveAfter has passed since it failed
)

// RemoveAfter is the time for which a job with RemoveFailed remains visible as failed.
// During that time, failure notices can refer to the job. The job stays longer if its batch,
// schedule or sweep has not recorded its end yet.
const RemoveAfter = time.Minute

// Job is a durable unit of work. The caller of Enqueue sets the fields above Status, whose
// zero values are useful. The store sets Status, and Enqueue ignores it.
type Job struct {
	ID   int64           // set by Enqueue
	Kind string          // name of the handler; required
	Args json.RawMessage // input for the handler: JSON, at most MaxArgs bytes; never changes

	Queue     string    // routing label that decides which nodes can run it; DefaultQueue if empty
	Tenant    string    // tenant on whose behalf it runs; DefaultTenant if empty
	Priority  int       // jobs with a higher priority start first
	NotBefore time.Time // earliest start; zero means now
	StartBy   time.Time // acceptable start, which orders jobs of equal priority; zero means the due time

	Timeout     time.Duration // timeout of one attempt; zero means the handler's
	MaxAttempts int           // number of failed attempts after which the job fails; zero means the handler's
	Retry       *Retry        // pause between attempts; nil means the handler's
	OnCrash     OnCrash       // default Revive
	OnFail      OnFail        // default KeepFailed

	Key         string      // unique key per tenant within KeyScope; empty means none
	KeyScope    KeyScope    // how long the job holds Key; default KeyLive
	OnDuplicate OnDuplicate // what Enqueue does if Key is taken; default RefuseDuplicate

	// ConcurrencyKey names a gate. Among the jobs of one kind and tenant with the same
	// ConcurrencyKey, at most Limit.PerKey of the kind (default one) are admitted at a
	// time; the others are parked. A job keeps its place until it has ended, even while it
	// backs off. Empty means no gate.
	ConcurrencyKey string

	Trace string // W3C traceparent of the caller, passed to the handler

	Status
}

// Status is the part of a job that the store records. While the job is running or waiting,
// Fence, Node and StartedAt belong to the current run. Once the job is final, they belong to
// the last run. Otherwise they are zero.
type Status struct {
	State      State
	Attempt    int    // number of the current or last run, counted from 1; 0 before the first
	Failures   int    // failed runs that count against MaxAttempts
	Crashes    int    // number of nodes that died while running it since the last recorded progress
	Fence      int64  // number of the lease; grows with each claim
	Node       NodeID // node that holds or held the lease
	Fired      bool   // the job is a run of a schedule
	Batch      int64  // ID of the batch, if the job is a task; otherwise zero
	Solo       bool   // claimed as a crash suspect: a node runs at most one such job at a time
	Bare       bool   // claimed without Args, Memo and Progress, because those of all claimed jobs were too large together; a node returns such a job to its queue
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time       // zero while live
	Deadline   time.Time       // while waiting, the time at which the wait ends without an answer
	CancelWish bool            // while running: the job was asked to stop
	Output     json.RawMessage // result reported by the handler
	Reason     Reason          // reason for not succeeding
	Error      string          // text of the last failure
	Progress   json.RawMessage // last progress reported by the handler
	Told       json.RawMessage // last progress reported through Extend for the current or last run
	Memo       json.RawMessage // data that the handler keeps from one run to the next
}

// Attempt records one run that ended in anything other than plain success.
type Attempt struct {
	Run        int    // number of the run, counted from 1
	Fence      int64  // fence of the run
	Node       NodeID // node that ran the job
	StartedAt  time.Time
	FinishedAt time.Time
	Reason     Reason // reason for not succeeding
	Error      string // text of the failure
}
