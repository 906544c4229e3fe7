package schedule

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Tx is a transaction of a store that has taken schedules: it holds their locks. CarryOut
// decides what is done with them; the Tx reads and writes rows. Each of its calls is about
// all schedules at once, and a store may delay those that only write until it needs the
// answer of another, or commits: acting upon many schedules takes as many round trips as
// acting upon one.
//
// A call that fails has undone nothing: the store rolls back when CarryOut returns an error.
type Tx interface {
	// Look reads the schedules that were taken, and what decisions about them are made
	// from. It is the first call.
	Look(ctx context.Context) (Sight, error)
	// LastEnded returns runs of schedules that ended, were not skipped, and are not open:
	// of each schedule at least the one with the newest instant, as far as it is kept.
	LastEnded(ctx context.Context, schedules []int64) ([]Fire, error)
	// Taken returns those instants that have runs, skips included. An instant with several
	// runs may be returned several times; one by the clock or to catch up is Shared.
	Taken(ctx context.Context, instants []Instant) ([]Instant, error)

	// Cancel ends jobs at once, wherever they are, with ReasonReplaced. A node that runs
	// one of them comes too late to settle it. It returns when each of them ended; those
	// that had ended before are not among them.
	Cancel(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error)
	// Admit makes the jobs of queued runs due, and the runs not Queued. What has moved
	// meanwhile stays as it is.
	Admit(ctx context.Context, runs []Fire) error
	// Number sets the IDs of new jobs. They ascend. Of two runs of a schedule the later
	// one has the larger ID if the database can tell.
	Number(ctx context.Context, jobs []*fairlead.Job) error
	// Enqueue stores jobs of runs under their IDs. A job whose key is taken, or that is
	// more than its tenant may have pending, is refused: the answer has its position and
	// why. It holds up no other.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) (refused map[int]error, err error)
	// Record stores jobs of runs that end before they begin, under their IDs. They hold no
	// key.
	Record(ctx context.Context, jobs []EndedJob) error
	// Alert stores jobs that are no runs. They have been through NormalizeJobs and have no
	// keys; how many jobs their tenant may have pending does not count.
	Alert(ctx context.Context, jobs []*fairlead.Job) error

	// AddFires stores runs. All but those that were skipped are open until CloseFires.
	AddFires(ctx context.Context, runs []Fire) error
	// CloseFires notes that the schedules have learned of the end of runs. Nothing is kept
	// of those whose jobs are gone.
	CloseFires(ctx context.Context, runs []Fire) error
	// Advance keeps the Cursor of schedules, and what is remembered of their runs: Last,
	// Skipped and Standing.
	Advance(ctx context.Context, schedules []*Record) error
}

// Taken is a schedule that a transaction has taken.
type Taken struct {
	Record
	Wanted bool // it is due or was asked for: it is acted upon though none of its runs has ended
}

// Sight is what a transaction sees of the schedules that it has taken.
type Sight struct {
	Now       time.Time // the database's clock, read under the locks
	Schedules []Taken
	// Open is their runs whose ends they have not learned of, as their jobs stand, oldest
	// first. A run whose job was deleted stands as was noted then, one whose job is missing
	// otherwise has failed; neither has an EndedAt.
	Open      []Fire
	Calendars map[string]*Calendar // that the schedules name
	// Newest is the newest instant of which a schedule has a run, whatever made it. A
	// schedule without runs is missing.
	Newest map[int64]time.Time
}

// Instant is a due instant of a schedule.
type Instant struct {
	Schedule int64
	Due      time.Time
	Shared   bool // of Taken: it has a run by the clock or to catch up
}

// EndedJob is a job that ends before it begins.
type EndedJob struct {
	Job    *fairlead.Job
	State  fairlead.State // Skipped or Failed
	Reason fairlead.Reason
	Error  string
}

// Shared reports whether runs by a trigger share their instants: a schedule has one of
// them per instant at most. All other runs stand for themselves.
func (t Trigger) Shared() bool { return t == TriggerCron || t == TriggerCatchUp }
