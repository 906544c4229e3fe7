package fairlead

import (
	"encoding/json"
	"time"
)

// State says where a job stands. A job is in exactly one state at any instant.
type State string

// The states of a job. The first five are live, the others are final.
const (
	Scheduled State = "scheduled" // not yet due, or backing off before its next attempt
	Ready     State = "ready"     // due, waits for a slot
	Parked    State = "parked"    // due, waits to be admitted by its gate
	Running   State = "running"   // leased to a node
	Waiting   State = "waiting"   // accepted by a target, awaits its answer; holds no slot
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Skipped   State = "skipped" // recorded, never meant to run
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

// Reason tells apart why a job, or one of its attempts, did not succeed.
type Reason string

// The reasons an attempt or a job can end with.
const (
	ReasonNone     Reason = ""
	ReasonError    Reason = "error"    // the handler returned an error
	ReasonFatal    Reason = "fatal"    // the handler returned Fatal
	ReasonPanic    Reason = "panic"    // the handler panicked
	ReasonTimeout  Reason = "timeout"  // the attempt took longer than its timeout
	ReasonDeadline Reason = "deadline" // no answer came while the job was waiting
	ReasonCrash    Reason = "crash"    // the node running the attempt died
	ReasonPoison   Reason = "poison"   // the job was running in too many crashes
	ReasonReplaced Reason = "replaced" // another job took its place

	ReasonLeaseLost Reason = "lease_lost" // the node lost its lease, which was no crash: its process lived, or the attempt had not started
)

// Never is the NotBefore of a run that is queued: it waits for an earlier run of
// its schedule and has no time of its own. It is later than any time that a job
// has to wait for, and the same to the microsecond in every store.
var Never = time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// Names that are used where a job leaves them empty.
const (
	DefaultQueue  = "default"
	DefaultTenant = "default"
)

// Common priorities. Any integer between -MaxPriority and MaxPriority is one;
// higher goes first.
const (
	Low         = -10
	Normal      = 0
	High        = 10
	MaxPriority = 32000
)

// OnDuplicate says what Enqueue does when a job's key is taken.
type OnDuplicate string

// The answers to a taken key.
const (
	RefuseDuplicate  OnDuplicate = "error"   // Enqueue fails with ErrConflict (the default)
	KeepDuplicate    OnDuplicate = "keep"    // the existing job stays; the new one gets its ID and is not stored
	ReplaceDuplicate OnDuplicate = "replace" // the existing job is cancelled, unless it is running: then ErrConflict
)

// KeyScope says for how long a job holds its key.
type KeyScope string

// The scopes of a key.
const (
	KeyLive    KeyScope = "live"    // until the job is final (the default)
	KeyForever KeyScope = "forever" // until the finished job is pruned or deleted
)

// OnCrash says what happens to a job whose node died while it ran.
type OnCrash string

// The answers to a crash.
const (
	Revive        OnCrash = "revive" // it runs again (the default)
	CancelOnCrash OnCrash = "cancel" // it ends as cancelled
)

// OnFail says what happens to a job that has failed for good.
type OnFail string

// The answers to a failure for good.
const (
	KeepFailed   OnFail = "keep"   // it is kept as failed for as long as nodes retain such jobs (the default)
	RemoveFailed OnFail = "remove" // it is removed with all that is known of it, RemoveAfter it failed
)

// RemoveAfter is for how long a job with RemoveFailed can still be seen as failed, so that
// notices of its failure find it. It stays longer while its batch, its schedule or its
// sweep has still to see how it ended.
const RemoveAfter = time.Minute

// Job is the durable unit of work.
//
// Fields above Status are chosen by the caller of Enqueue and their zero values
// are useful; Status is written by the store and ignored by Enqueue.
type Job struct {
	ID   int64           // set by Enqueue
	Kind string          // names the handler; not blank
	Args json.RawMessage // the handler's input: JSON, at most MaxArgs bytes; it never changes

	Queue     string    // routing label: which nodes may run it; DefaultQueue if empty
	Tenant    string    // for whom it runs; DefaultTenant if empty
	Priority  int       // higher goes first
	NotBefore time.Time // never starts before; zero means now
	StartBy   time.Time // acceptable start: orders jobs of one priority; zero means the due time

	Timeout     time.Duration // of one attempt; zero means the handler's
	MaxAttempts int           // attempts that may fail before the job does; zero means the handler's
	Retry       *Retry        // pause between attempts; nil means the handler's
	OnCrash     OnCrash
	OnFail      OnFail

	Key         string      // unique per tenant within KeyScope; empty means none
	KeyScope    KeyScope    // how long Key is held
	OnDuplicate OnDuplicate // what Enqueue does when Key is taken

	// ConcurrencyKey names a gate: of the jobs of one kind and tenant with the
	// same one at most Limit.PerKey of the kind, one if that is not set, are
	// admitted at a time, the others are parked. A job keeps its place until it
	// has ended, also while it backs off. Empty: no gate.
	ConcurrencyKey string

	Trace string // W3C traceparent of the caller, handed to the handler

	Status
}

// Status is what the store knows of a job. Fence, Node and StartedAt are those
// of the current run while the job is running or waiting, of the last run once
// it is final, and zero otherwise.
type Status struct {
	State      State
	Attempt    int    // number of the current or last run, from 1; 0 before the first
	Failures   int    // runs that count against MaxAttempts
	Crashes    int    // node deaths since the last recorded progress
	Fence      int64  // number of the lease; grows with each claim
	Node       NodeID // who holds or held the lease
	Fired      bool   // it is a run of a schedule
	Batch      int64  // it is a task of this batch; zero: of none
	Solo       bool   // claimed as a crash suspect: at most one such job runs on a node
	Bare       bool   // claimed without Args, Memo and Progress, which were too large together with those of others; a node gives such a job back
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time // zero while live
	Deadline   time.Time // while waiting: when the wait ends without an answer
	CancelWish bool      // while running: it was asked to stop
	Output     json.RawMessage
	Reason     Reason
	Error      string
	Progress   json.RawMessage // what the handler last reported
	Told       json.RawMessage // what Extend last reported of the current or last run
	Memo       json.RawMessage // what the handler carries from run to run
}

// Attempt is the record of one run that did not simply succeed.
type Attempt struct {
	Run        int
	Fence      int64
	Node       NodeID
	StartedAt  time.Time
	FinishedAt time.Time
	Reason     Reason
	Error      string
}
