package schedule

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Schedule makes jobs at the times it names, and says what happens if an earlier one
// still runs, has failed, or if there are too many. A job that a schedule made is a
// run of it.
type Schedule struct {
	ID          int64 // set by the store
	Name        string
	Description string

	// When it is due: one of these.
	Cron  string        // five or six fields, or such as @daily
	Every time.Duration // at a fixed rate, counted from StartsAt or from when it was made
	Delay time.Duration // so long after the end of its last run
	Daily string        // times of day, as "03:00, 15:30"
	At    time.Time     // once

	Zone     string        // of the IANA database; UTC if empty
	StartsAt time.Time     // not due before; zero: at once
	EndsAt   time.Time     // not due from then on; zero: never
	Jitter   time.Duration // runs start up to so much later, each schedule by its own fixed part of it
	Calendar string        // days on which it is not due: a Delay that ends on one ends with it; empty: none

	Job fairlead.Job // what each run is: of its times only StartBy and Timeout count

	Overlap        Overlap       // what a due instant does while an earlier run is active
	AfterFailure   AfterFailure  // what it does after a run that failed
	MaxConcurrency int           // runs that may be active at once; zero: no bound
	Concurrency    Concurrency   // what happens to more of them
	QueueDepth     int           // runs that may be queued; default 100
	CatchUp        CatchUp       // what becomes of instants that were missed
	CatchUpLimit   int           // most of them that are run; default 100
	CatchUpWindow  time.Duration // how old they may be; default a day

	Alert *Alert // where to report that it goes wrong; nil: nowhere

	Disabled bool   // it makes no runs when it is due
	Reason   string // why it is disabled
	Outdated bool   // its Cursor was computed with another calendar than there is now; set by the store, and undone by the Client
	Broken   string // why what is stored of it cannot be read, set by the store: it makes no runs until it is replaced

	Version   int64     // grows with each change; set by the store
	CreatedAt time.Time // set by the store, unless it is given
	UpdatedAt time.Time // set by the store

	Cursor
}

// Cursor is how far a schedule has come.
type Cursor struct {
	Due    time.Time // the next instant that it is due at; zero: none is to come
	FireAt time.Time // when it is acted upon: Due and its part of the jitter; without a Due, when it is searched again

	CalendarVersion int64 // of the calendar that it was computed with; zero: none
}

// Overlap is what a due instant does while an earlier run is active.
type Overlap string

// The answers to an earlier run.
const (
	OverlapAllow    Overlap = "allow"       // go on to the question of how many (the default)
	OverlapSkip     Overlap = "skip"        // record that it was skipped
	OverlapCancel   Overlap = "cancel_prev" // the earlier runs end as cancelled and this one takes their place
	OverlapParallel Overlap = "parallel"    // run beside them, however many they are
)

// AfterFailure is what a due instant does after a run that failed, timed out or
// was cancelled.
type AfterFailure string

// The answers to a failure.
const (
	FailureRunNew AfterFailure = "run_new" // run as if nothing had happened (the default)
	FailureRetry  AfterFailure = "retry"   // run as the next attempt
	FailureSkip   AfterFailure = "skip"    // record that it was skipped, once; then run as the attempt after that
)

// Concurrency is what happens to a run for which MaxConcurrency leaves no room.
type Concurrency string

// The answers to too many runs.
const (
	ConcurrencyQueue    Concurrency = "queue"    // it waits, in order, until an earlier one has ended (the default)
	ConcurrencySkip     Concurrency = "skip"     // record that it was skipped
	ConcurrencyParallel Concurrency = "parallel" // it runs all the same
)

// CatchUp is what becomes of instants that passed while no node acted upon them
// for longer than the fire grace.
type CatchUp string

// The answers to missed instants.
const (
	CatchUpNone    CatchUp = "none"    // nothing (the default)
	CatchUpCompact CatchUp = "compact" // one run, of the last of them
	CatchUpFull    CatchUp = "full"    // a run of each, as far as CatchUpLimit and CatchUpWindow allow
)

// Trigger is what made a run.
type Trigger string

// The triggers. An instant is run by the clock or to catch up, never both.
const (
	TriggerCron     Trigger = "cron"
	TriggerCatchUp  Trigger = "catch_up"
	TriggerManual   Trigger = "manual"
	TriggerBackfill Trigger = "backfill"
)

// SkipReason is why a run was recorded and not run.
type SkipReason string

// The reasons for a skip.
const (
	SkipOverlap     SkipReason = "overlap"
	SkipFailure     SkipReason = "failure"
	SkipConcurrency SkipReason = "concurrency"
)

// Fire is one run of a schedule: a job, and what it is to the schedule.
type Fire struct {
	Job      int64 // its ID
	Schedule int64
	Due      time.Time // the instant it stands for
	Trigger  Trigger
	Number   int            // attempt, as the schedule counts: 1, and one more after each failure
	Skip     SkipReason     // why it was never meant to run; empty: it was
	Queued   bool           // it waits for an earlier run
	State    fairlead.State // of the job as it was last looked at
	EndedAt  time.Time      // zero: it has not
}

// Active reports whether the run has not ended.
func (f *Fire) Active() bool { return !f.State.Final() }

// Failed reports whether the run ended otherwise than well.
func (f *Fire) Failed() bool { return f.State == fairlead.Failed || f.State == fairlead.Cancelled }

// View is what a decision about a schedule is made from.
type View struct {
	Now      time.Time // the database's clock
	Calendar *Calendar // nil: none, or it is gone
	Active   []Fire    // those that have not ended, queued ones too, oldest first
	Last     *Fire     // of those that ended and were not skipped the one with the newest instant; nil: there is none
	Skipped  bool      // whether one was skipped since then
	Ended    []Fire    // runs whose end no earlier View had, in the order of their ends
	Standing Standing  // what the last plan said
	// Room is how many new runs, skips included, and how many admitted ones the plan has room
	// for. Instants that exceed it stay due. Zero is unlimited.
	Room int
	// Recorded is which of the instants that the Plan before asked for have a run, skips
	// included, however it came about; in UTC. It is nil in the first View of a decision.
	Recorded map[time.Time]bool

	days *days // of Calendar; nil: each decision reads them anew
}

// Plan is what is to be done with a schedule.
type Plan struct {
	// Untouched leaves the schedule as it is, whatever else the plan says: the instants that have
	// come stay due, and the runs that have ended are in the next View again.
	Untouched bool

	Cancel []int64       // runs that end as cancelled: the new ones take their place
	Admit  []int64       // queued runs that wait no longer
	Fires  []PlannedFire // new runs
	Cursor Cursor        // how far the schedule has come

	Alerts   []*fairlead.Job // that tell of what has gone wrong; they are no runs, and no bound of pending jobs keeps them out
	Standing Standing        // to be remembered

	// Ask is instants of which the decision has to know whether they have runs. It is then made
	// anew with a View that says so, in the same transaction; nothing else of this plan counts.
	Ask []time.Time
}

// PlannedFire is a run to be made.
type PlannedFire struct {
	Due     time.Time
	Trigger Trigger
	Number  int
	Skip    SkipReason
	Queued  bool
	Args    json.RawMessage // instead of the template's; nil: the template's
	Serial  string          // ConcurrencyKey instead of the template's; empty: the template's
	Order   time.Time       // StartBy of the job; zero: the template's
}
