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
	// first, and tells how long it is until the next is due. It also lets gates
	// admit jobs where a process died between giving back a place and admitting the next.
	Promote(ctx context.Context, limit int) (Promotion, error)
	// Reap declares nodes dead whose lease has run out, and takes back at most
	// Limit jobs leased to dead or unknown nodes. Each gets a crash recorded and
	// becomes ready, or ends: as cancelled if that was asked for or its
	// OnCrash says so (then with ReasonCrash), as failed with ReasonPoison once
	// it has crashed more than MaxCrashes times. A wish goes before the others. A
	// crash does not count against MaxAttempts. At the end of a lease either Beat
	// or Reap wins, never both.
	Reap(ctx context.Context, reap Reap) (Reaped, error)
	// Lived says that the process of a node lives which will not beat again, as after
	// a lost lease: that was no crash. What Reap takes back from the node from then on
	// is recorded with ReasonLeaseLost and gets no crash counted. Where Reap has made
	// jobs of the node ready within the last hour, the attempt gets that reason as
	// well, and a job that has not ended since has a crash less, though never less than
	// none. Saying so twice, or of an unknown node, is fine.
	Lived(ctx context.Context, node fairlead.NodeID) error
	// Expire fails at most limit waiting jobs whose deadline has passed, with
	// ReasonDeadline. It counts as a failure and is recorded as an attempt.
	Expire(ctx context.Context, limit int) (int, error)
	// Prune removes at most limit finished jobs that are older than their
	// outcome's retention, with what is known of them as runs of schedules; long dead
	// nodes, schedules that were deleted and have no runs left, and what Once and the
	// audit log need not keep any more, at most limit of each. So are batches, with their parts, that
	// ended longer ago than Succeeded says if they are in success or rollback_success,
	// Cancelled if in cancel, Failed otherwise; and those that were not opened within
	// a day.
	// A job stays, however old, while its end has still to be seen: by the batch whose
	// task it is, until that has counted it or completed; by the schedule whose run it
	// is, until that was told; by the sweep that runs and over whose shard it goes,
	// until that has ended. Such jobs keep none behind them from being removed.
	// Of sweeps that have finished, lines and events older than Failed says are removed,
	// at most limit of each; the sweeps themselves stay until they are deleted.
	// It tells how many rows of all of these it removed, nodes and schedules aside: while
	// that is limit or more, there may be more to remove.
	//
	// It also gives up lanes that no job was in for 30 days, and removes what is left
	// of limits that were removed. That is not counted: a call does a bounded part of it.
	Prune(ctx context.Context, keep Retention, limit int) (int, error)
	// Verify counts the jobs of each limit and the tasks of each open batch anew,
	// corrects what differs and reports it. There should never be anything to report.
	Verify(ctx context.Context) ([]Drift, error)
}

// Promotion is the answer of Promote.
type Promotion struct {
	Moved int
	Next  time.Duration // until the next scheduled job is due; zero if due jobs are left, negative if there is none
}

// Reap asks for taking back.
type Reap struct {
	By         fairlead.NodeID
	MaxCrashes int
	Limit      int
	// Patience is for how long after the end of its lease the process of a node may
	// say that it lived, before jobs of the node end as poison.
	Patience time.Duration
}

// Reaped is the answer of Reap: beside an error, what was done before it.
type Reaped struct {
	Nodes     int // newly declared dead
	Jobs      int // made ready again
	Poisoned  int
	Cancelled int
}

// Retention is how long finished jobs are kept, per outcome. Zero keeps them
// forever.
type Retention struct {
	Succeeded time.Duration
	Failed    time.Duration
	Cancelled time.Duration
	Skipped   time.Duration
}

// DriftBatch is the scope of a Drift that is not about a limit but about a batch. Its
// name is the ID of the batch and the state of tasks that was miscounted.
const DriftBatch fairlead.LimitScope = "batch"

// Drift is a limit whose count of jobs was not what there is, or a batch whose count
// of tasks was not.
type Drift struct {
	Scope   fairlead.LimitScope
	Name    string
	Counted int
	Found   int
}
