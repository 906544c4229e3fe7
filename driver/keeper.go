package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Keeper is the housekeeping that every node does. All of it is idempotent
// and may run on many nodes at once.
type Keeper interface {
	// Promote makes at most limit due scheduled jobs ready, or parks them, earliest
	// first, and returns how long it is until the next is due. It also admits parked
	// jobs where a process died between giving back a place and admitting the next job.
	Promote(ctx context.Context, limit int) (Promotion, error)
	// Reap declares nodes dead whose lease has ended, and takes back at most Limit jobs
	// leased to dead or unknown nodes. Each gets a crash recorded and becomes ready, or
	// ends: as cancelled if that was asked for, or if its OnCrash demands it (then with
	// ReasonCrash); as failed with ReasonPoison at the crash that reaches MaxCrashes
	// without progress since the first of them. A wish to cancel comes before the others. A crash does not
	// count against MaxAttempts. At the end of a lease either Beat or Reap wins, never
	// both. A claim may commit after its node was marked dead, by Reap or by Leave. Its
	// jobs did not start: each is recorded with ReasonLeaseLost and without a crash, and
	// becomes ready unless a wish ends it.
	Reap(ctx context.Context, reap Reap) (Reaped, error)
	// Lived records that the process of a node is alive although the node will not beat
	// again, as after a lost lease: it did not crash. Jobs that Reap takes back from
	// the node from then on are recorded with ReasonLeaseLost and without a crash. For
	// jobs of the node that Reap has made ready within the last hour, the attempt gets
	// that reason as well, and a job that has not ended since has one crash fewer,
	// never fewer than none. Calling it twice, or for an unknown node, is fine.
	Lived(ctx context.Context, node fairlead.NodeID) error
	// Overdue lists at most limit waiting jobs whose deadline has passed, those first
	// whose deadline was first. No answer for them is accepted any more.
	Overdue(ctx context.Context, limit int) ([]Held, error)
	// Expire ends the waits of those of the jobs that still wait under the fence and
	// whose deadline has passed. That is a failure with ReasonDeadline, and recorded as
	// an attempt: a job whose Await had a Retry is scheduled again after that pause, and
	// keeps its key and its place at its gate; any other fails. It returns how many waits
	// it has ended, and passes over jobs that others are moving.
	Expire(ctx context.Context, overdue []Held) (int, error)
	// Prune removes at most limit finished jobs that are older than the retention of their
	// outcome, or of their kind (see KeepKinds), with their records as runs of schedules. It also removes long dead
	// nodes, deleted schedules without runs, and what Once and the audit log need not
	// keep any more, at most limit of each. It also removes batches, with their chunks,
	// that ended longer ago than Succeeded if they are in success or rollback_success,
	// than Cancelled if in cancel, than Failed otherwise; and those that were not
	// opened within a day.
	// A job stays, however old, while its end has still to be seen: by the batch whose
	// task it is, until the batch has counted it or completed; by the schedule whose
	// run it is, until the schedule has seen it; by the running sweep whose shard it
	// processes, until the sweep has ended. Such jobs do not keep later ones from being
	// removed.
	// It removes bulks, with their misses, that ended longer ago than Succeeded if they
	// completed, than Cancelled if they were stopped; those that failed go with their jobs.
	// Of finished sweeps, it removes lines and events older than Failed, at most limit
	// of each; the sweeps themselves stay until they are deleted.
	// It returns how many rows of all of these it removed, without nodes and schedules:
	// while that is limit or more, there may be more to remove.
	//
	// It also retires lanes that had no job for 30 days, and removes what remains of
	// deleted limits. That is not counted: a call does a bounded part of it. And it records
	// which job IDs are in use, so that lists by creation time read few rows.
	Prune(ctx context.Context, keep Retention, limit int) (int, error)
	// KeepKinds stores how long finished jobs of kinds are kept. Every Prune then goes
	// by that instead of by its own Retention; zero fields leave it to the
	// latter. It holds until another call names the kind, and for KindRetentionMemory
	// after the last that did.
	KeepKinds(ctx context.Context, kinds map[string]Retention) error
	// Verify counts the jobs of each limit and the tasks of each open batch again,
	// corrects what differs and reports it. There should never be anything to report.
	Verify(ctx context.Context) ([]Drift, error)
}

// Promotion is the answer of Promote.
type Promotion struct {
	Moved int
	Next  time.Duration // until the next scheduled job is due; zero if due jobs are left, negative if there is none
}

// Reap configures taking jobs back.
type Reap struct {
	By         fairlead.NodeID
	MaxCrashes int // the crash that makes a job poison; zero and one: the first
	Limit      int
	// Patience is how long after the end of a node's lease its process may still call
	// Lived, before jobs of the node end as poison.
	Patience time.Duration
}

// Reaped is the answer of Reap: with an error, what was done before it.
type Reaped struct {
	Nodes     int // newly declared dead
	Jobs      int // made ready again
	Poisoned  int
	Cancelled int
}

// Retention is how long finished jobs are kept, per outcome. Here zero keeps them forever,
// as fairlead.Forever does.
type Retention = fairlead.Retention

// KindRetentionMemory is how long KeepKinds holds after it was last called for a kind.
const KindRetentionMemory = 30 * 24 * time.Hour

// DriftBatch is the scope of a Drift of a batch instead of a limit. Its name is the ID
// of the batch and the state of the miscounted tasks.
const DriftBatch fairlead.LimitScope = "batch"

// Drift is a limit whose count of jobs was wrong, or a batch whose count of tasks was.
type Drift struct {
	Scope   fairlead.LimitScope
	Name    string
	Counted int
	Found   int
}
