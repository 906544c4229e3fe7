package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Keeper performs the housekeeping that every node does. All methods are idempotent, and
// several nodes may call them at the same time.
type Keeper interface {
	// Promote makes at most limit due scheduled jobs ready or parked, earliest first, and
	// returns the time until the next job is due. It also admits parked jobs that were left
	// behind because a process died after it freed a slot and before it admitted the next job.
	Promote(ctx context.Context, limit int) (Promotion, error)
	// Reap marks nodes with expired leases as dead, and takes back at most Limit jobs leased
	// to dead or unknown nodes. It records a crash for each of these jobs. The job then
	// becomes ready or ends:
	//
	//   - A job whose cancellation was requested is cancelled. This takes precedence.
	//   - A job whose OnCrash requires it is cancelled with ReasonCrash.
	//   - A job that reaches MaxCrashes without progress since its first crash fails with
	//     ReasonPoison.
	//
	// A crash does not count against MaxAttempts. When a lease expires, either Beat or Reap
	// wins, never both. A claim may commit after its node was marked dead, by Reap or by
	// Leave. The jobs of such a claim never started: each is recorded with ReasonLeaseLost and
	// without a crash, and becomes ready unless a requested cancellation ends it.
	Reap(ctx context.Context, reap Reap) (Reaped, error)
	// Lived records that the process of a node is alive, and therefore did not crash, although
	// the node will not beat again, for example after it lost its lease. Jobs that Reap takes
	// back from the node after this call are recorded with ReasonLeaseLost and without a
	// crash. For jobs of the node that Reap has made ready within the last hour, the attempt
	// also gets that reason, and the crash count of a job that has not ended since goes down
	// by one, never below zero. Repeated calls and unknown nodes are allowed.
	Lived(ctx context.Context, node fairlead.NodeID) error
	// Overdue returns at most limit waiting jobs whose deadline has passed, earliest deadline
	// first. Answers to these jobs are no longer accepted.
	Overdue(ctx context.Context, limit int) ([]Held, error)
	// Expire ends the waits of those jobs that still wait under the given fence and whose
	// deadline has passed. An expired wait is a failure with ReasonDeadline and is recorded as
	// an attempt: a job whose Await has a Retry is scheduled again after that pause and
	// retains its key and its place at its gate; any other job fails. Expire returns the
	// number of expired waits. It skips jobs that are being moved concurrently.
	Expire(ctx context.Context, overdue []Held) (int, error)
	// Prune deletes at most limit finished jobs that are older than the retention of their
	// outcome, or of their kind (see KeepKinds), and their records as runs of schedules. It
	// also deletes nodes that have been dead for long, deleted schedules without runs, and
	// expired data of Once and of the audit log, at most limit of each. It deletes batches,
	// with their chunks, that ended longer ago than Succeeded if they are in success or
	// rollback_success, than Cancelled if in cancel, and than Failed otherwise, and batches
	// that were not opened within a day.
	//
	// A job stays, whatever its age, until its end has been processed: by the batch that it is
	// a task of, until the batch has counted it or completed; by the schedule that it is a run
	// of, until the schedule has seen it; by the running sweep whose shard it processes, until
	// the sweep has ended. Such jobs do not prevent the deletion of later ones.
	//
	// Prune deletes bulks, with their misses, that ended longer ago than Succeeded if they
	// completed, and than Cancelled if they were stopped; failed bulks are deleted with their
	// jobs. Of finished sweeps, it deletes lines and events older than Failed, at most limit
	// of each; the sweeps themselves stay until a caller deletes them.
	//
	// Prune returns the total number of deleted rows, without nodes and schedules. If it
	// returns limit or more, there may be more rows to delete.
	//
	// It also retires lanes that have had no job for 30 days, and deletes the remains of
	// deleted limits. These are not counted; each call does a bounded part of this work.
	// Finally it records which job IDs are in use, so that lists by creation time read few
	// rows.
	Prune(ctx context.Context, keep Retention, limit int) (int, error)
	// KeepKinds stores the retention of finished jobs of the given kinds. Every later Prune
	// uses it instead of its own Retention; zero fields fall back to the latter. The setting
	// for a kind holds until another call names the kind, and expires KindRetentionMemory
	// after the last such call.
	KeepKinds(ctx context.Context, kinds map[string]Retention) error
	// Verify recounts the jobs of each limit and the tasks of each open batch, corrects wrong
	// counts and returns them. The result should always be empty.
	Verify(ctx context.Context) ([]Drift, error)
}

// Promotion is the result of Keeper.Promote.
type Promotion struct {
	Moved int
	Next  time.Duration // time until the next scheduled job is due; zero if due jobs remain, negative if no job is scheduled
}

// Reap contains the parameters of Keeper.Reap.
type Reap struct {
	By         fairlead.NodeID
	MaxCrashes int // number of crashes that makes a job poison; zero and one both mean the first crash
	Limit      int
	// Patience is the time after the end of a node's lease during which its process may still
	// call Lived. Until then, jobs of the node do not end as poison.
	Patience time.Duration
}

// Reaped is the result of Keeper.Reap. If Reap returns an error, Reaped covers the work done
// up to that point.
type Reaped struct {
	Nodes     int // newly marked as dead
	Jobs      int // made ready again
	Poisoned  int
	Cancelled int
}

// Retention specifies how long finished jobs are kept, for each outcome. In this package,
// zero keeps jobs forever, like fairlead.Forever.
type Retention = fairlead.Retention

// KindRetentionMemory is how long a kind's retention remains in effect after the last
// KeepKinds call for that kind.
const KindRetentionMemory = 30 * 24 * time.Hour

// DriftBatch is the scope of a Drift that concerns a batch rather than a limit. The Drift's
// Name then consists of the batch ID and the state of the miscounted tasks.
const DriftBatch fairlead.LimitScope = "batch"

// A Drift is a wrong count of a limit's jobs or a batch's tasks.
type Drift struct {
	Scope   fairlead.LimitScope
	Name    string
	Counted int
	Found   int
}
