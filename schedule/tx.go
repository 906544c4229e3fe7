package schedule

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Tx is a store's transaction that has taken schedules and holds their locks. CarryOut
// decides what happens to the schedules. The Tx reads and writes rows.
//
// Each call covers all schedules at once. A store may delay calls that only write until it
// needs the result of a later call or commits. Acting on many schedules therefore takes as
// many round trips as acting on one. If a call fails, it undoes nothing. The store rolls
// back when CarryOut returns an error.
type Tx interface {
	// Look reads the schedules that were taken, and the information that decisions about
	// them need. It is the first call.
	Look(ctx context.Context) (Sight, error)
	// LastEnded returns runs of schedules that ended, were not skipped, and are not open:
	// for each schedule at least the one with the newest instant, if it is still on
	// record.
	LastEnded(ctx context.Context, schedules []int64) ([]Fire, error)
	// Taken returns the instants, among the given ones, that have runs, including skips.
	// It may return an instant with several runs several times; an instant with a
	// scheduled or catch-up run is Shared.
	Taken(ctx context.Context, instants []Instant) ([]Instant, error)

	// Cancel ends jobs immediately, regardless of their state, with ReasonReplaced. A node
	// that runs one of them can no longer settle it. Cancel returns the time at which each
	// of them ended; it omits jobs that had ended before.
	Cancel(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error)
	// Admit makes the jobs of queued runs due, and clears Queued. Jobs that have moved in
	// the meantime stay as they are.
	Admit(ctx context.Context, runs []Fire) error
	// Number assigns IDs to new jobs, in ascending order. Of two runs of a schedule the
	// later one has the larger ID, as far as the database can determine the order.
	Number(ctx context.Context, jobs []*fairlead.Job) error
	// Enqueue stores jobs of runs under their IDs. It refuses a job whose key is taken, or
	// that exceeds its tenant's MaxPending: the result contains the job's position and the
	// reason. The other jobs are not affected.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) (refused map[int]error, err error)
	// Record stores jobs of runs that end before they begin, under their IDs. They hold no
	// key.
	Record(ctx context.Context, jobs []EndedJob) error
	// Alert stores jobs that are not runs. The caller has passed them through
	// NormalizeJobs, and they have no keys. The tenant's MaxPending does not apply.
	Alert(ctx context.Context, jobs []*fairlead.Job) error

	// AddFires stores runs. All runs except skipped ones are open until CloseFires.
	AddFires(ctx context.Context, runs []Fire) error
	// CloseFires records that the schedules have learned of the end of runs. It deletes
	// runs without jobs.
	CloseFires(ctx context.Context, runs []Fire) error
	// Advance stores the Cursor of schedules, and the information about their runs: Last,
	// Skipped and Standing.
	Advance(ctx context.Context, schedules []*Record) error
}

// Taken is a schedule that a transaction has taken.
type Taken struct {
	Record
	Wanted bool // whether to act on it even if none of its runs has ended, because it is due or was requested
}

// Sight is what a transaction sees of the schedules that it has taken.
type Sight struct {
	Now       time.Time // time of the database's clock, read under the locks
	Schedules []Taken   // schedules that the transaction has taken
	// Open lists the runs whose ends the schedules have not learned of, with the states of
	// their jobs, oldest first. A run whose job was deleted has the state recorded at that
	// time; a run whose job is missing for another reason has failed. Neither has an
	// EndedAt.
	Open      []Fire
	Calendars map[string]*Calendar // calendars that the schedules use
	// Newest is the newest instant for which each schedule has a run, regardless of the
	// trigger. A schedule without runs is absent.
	Newest map[int64]time.Time
}

// Instant is one of a schedule's due instants.
type Instant struct {
	Schedule int64     // ID of the schedule
	Due      time.Time // due instant
	Shared   bool      // result of Taken: the instant has a scheduled or catch-up run
}

// EndedJob is a job that ends without having started.
type EndedJob struct {
	Job    *fairlead.Job
	State  fairlead.State  // Skipped or Failed
	Reason fairlead.Reason // reason for ending
	Error  string          // text of the failure
}

// Shared reports whether at most one run per instant and schedule may have a trigger of this
// type. Scheduled and catch-up runs share their instants in this way. All other runs are
// independent.
func (t Trigger) Shared() bool { return t == TriggerCron || t == TriggerCatchUp }
