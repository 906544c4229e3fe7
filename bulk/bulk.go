package bulk

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// The kind, the queue and the tenant of jobs that carry out bulks.
const (
	Kind   = reserved.Bulk
	Queue  = reserved.BulkQueue
	Tenant = reserved.BulkTenant
)

// Bulk is one action upon all jobs that match a filter and were created before it.
//
// Fields above Status are chosen by the caller of Start; Status is written by the store.
type Bulk struct {
	ID       int64 // that of the job that carries it out
	Action   Action
	Filter   fairlead.Filter // Limit and Below are not used
	Cause    string          // only jobs whose error has this cause: the text of any of them as it is shown, with "***" for what is confidential; empty: all
	Reason   string          // why, for those who look later; of Cancel it is the reason of the jobs
	Priority int             // of Prioritize
	Queue    string          // of Move: where the jobs go
	Rate     float64         // jobs per second; zero: as fast as leaves room for others

	// Who asked for it: each entry of the audit log says so.
	Actor string
	Role  access.Role
	From  string // network address

	Status
}

// Status is what the store knows of a bulk.
type Status struct {
	State    State
	Stopping bool   // it was asked to stop
	Error    string // why it has failed

	Matched int64 // jobs that matched when it was made
	More    bool  // there may have been more: it was not counted on
	Done    int64 // jobs that it has acted upon
	Missed  int64 // jobs that it has left as they were

	Cursor int64 // the ID below which it goes on; zero: it has not begun
	// Newest is an ID above which a job that is dated after the bulk was made after it. One
	// with a smaller ID may also have been made before the database's clock was set back.
	Newest int64

	CreatedAt  time.Time
	StartedAt  time.Time // zero: it has not begun
	FinishedAt time.Time // zero: it has not ended
}

// State is how far a bulk is.
type State string

// The states of a bulk. The first two are live.
const (
	Pending   State = "pending"   // no step was made yet
	Running   State = "running"   // some were
	Completed State = "completed" // it has been through all jobs
	Stopped   State = "stopped"   // it was asked to stop, or its job was cancelled; the rest is untouched
	Failed    State = "failed"    // its job has failed or was deleted; retrying the job goes on
)

// Final reports whether a bulk in this state has ended.
func (s State) Final() bool { return s == Completed || s == Stopped || s == Failed }

// Miss is a job that a bulk has left as it was.
type Miss struct {
	Job int64
	Why string // in words
}

// job is what carries a bulk out. It counts against no limit of any tenant whose jobs it
// acts upon.
func job() *fairlead.Job {
	return &fairlead.Job{Kind: Kind, Queue: Queue, Tenant: Tenant, Priority: fairlead.High}
}
