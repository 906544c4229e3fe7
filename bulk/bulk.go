package bulk

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// Kind, queue and tenant of the jobs that carry out bulks.
const (
	Kind   = reserved.Bulk
	Queue  = reserved.BulkQueue
	Tenant = reserved.BulkTenant
)

// A Bulk applies one action to all jobs that match a filter and were created before the
// bulk.
//
// The caller of Start sets the fields above Status. The store sets Status.
type Bulk struct {
	ID       int64 // equal to the ID of the job that carries out the bulk
	Action   Action
	Filter   fairlead.Filter // Limit and Below are not used
	Cause    string          // only jobs whose error has this cause: the error text of any of them as displayed, with "***" for confidential parts; empty = all
	Reason   string          // reason for the bulk, for later readers; for Cancel also the reason recorded on the jobs
	Priority int             // for Prioritize only
	Queue    string          // destination queue, for Move only
	Rate     float64         // jobs per second; zero = as fast as possible without crowding out other work

	// Caller who started the bulk. Each audit log entry names it.
	Actor string
	Role  access.Role
	From  string // network address

	Status
}

// Status is the part of a bulk that the store maintains.
type Status struct {
	State    State
	Stopping bool   // whether the bulk has been requested to stop
	Error    string // reason for the failure of the bulk

	Matched int64 // number of matching jobs at creation
	More    bool  // whether counting ended early, so that more jobs may have matched
	Done    int64 // number of changed jobs
	Missed  int64 // number of jobs left unchanged

	Cursor int64 // the next step continues below this ID; zero = not started
	// Newest is an ID above which a job dated after the bulk was created after it. A job with
	// a smaller ID may also have been created before the database's clock was set back.
	Newest int64

	CreatedAt  time.Time
	StartedAt  time.Time // zero = not started
	FinishedAt time.Time // zero = not ended
}

// A State is a stage in a bulk's life cycle.
type State string

// States of bulks. The first two are live.
const (
	Pending   State = "pending"   // no step was made yet
	Running   State = "running"   // at least one step was made
	Completed State = "completed" // all jobs were processed
	Stopped   State = "stopped"   // the bulk was stopped, or its job was cancelled; the remaining jobs are unchanged
	Failed    State = "failed"    // its job failed or was deleted; retrying the job continues the bulk
)

// Final reports whether a bulk in this state has ended.
func (s State) Final() bool { return s == Completed || s == Stopped || s == Failed }

// A Miss is a job that a bulk left unchanged.
type Miss struct {
	Job int64
	Why string // reason, in words
}

// job returns the job that carries out a bulk. It does not count against the limits of the
// tenants whose jobs the bulk changes.
func job() *fairlead.Job {
	return &fairlead.Job{Kind: Kind, Queue: Queue, Tenant: Tenant, Priority: fairlead.High}
}
