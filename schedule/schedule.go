package schedule

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Schedule creates jobs at specified times. It also defines what happens while earlier jobs
// are still running, after they have failed, and when there are too many jobs at once. A job
// that a schedule creates is a run of the schedule.
type Schedule struct {
	ID          int64  // set by the store
	Name        string // unique name
	Description string // description for users

	// Timing: set exactly one of these fields.
	Cron  string        // cron expression: five or six fields, or a macro such as @daily
	Every time.Duration // fixed interval, counted from StartsAt or from the creation of the schedule
	Delay time.Duration // delay between the end of one run and the start of the next
	Daily string        // times of day, such as "03:00, 15:30"
	At    time.Time     // a single instant

	Zone     string        // IANA time zone; default UTC
	StartsAt time.Time     // not due before this time; default immediately
	EndsAt   time.Time     // not due from this time on; default no end
	Jitter   time.Duration // maximum delay of a run's start; each schedule always uses the same fraction of it
	Calendar string        // calendar of excluded days (a Delay that ends on one ends with that day); default none

	Job fairlead.Job // template of the runs; of its time fields, only StartBy and Timeout are used

	Overlap        Overlap       // what a due instant does while an earlier run is active
	AfterFailure   AfterFailure  // what a due instant does after a failed run
	MaxConcurrency int           // maximum number of active runs; zero = unlimited
	Concurrency    Concurrency   // what happens to runs beyond MaxConcurrency
	QueueDepth     int           // maximum number of queued runs; default 100
	CatchUp        CatchUp       // what happens to missed instants
	CatchUpLimit   int           // maximum number of missed instants to run; default 100
	CatchUpWindow  time.Duration // maximum age of missed instants to run; default a day

	Alert *Alert // reports problems with the runs; nil sends no reports

	Disabled bool   // start no runs when due
	Reason   string // reason for disabling the schedule
	Outdated bool   // its Cursor was computed with an earlier version of the calendar; set by the store and resolved by the Client
	Broken   string // error from reading the stored schedule, which starts no runs until it is replaced; set by the store

	Version   int64     // grows with each change; set by the store
	CreatedAt time.Time // set by the store if zero
	UpdatedAt time.Time // set by the store

	Cursor
}

// Cursor is a schedule's position on its timeline.
type Cursor struct {
	Due    time.Time // next due instant; zero if there is none
	FireAt time.Time // time at which a node acts on Due: Due plus the schedule's share of the jitter; if Due is zero, the time of the next search for one

	CalendarVersion int64 // version of the calendar with which the cursor was computed; zero if there is no calendar
}

// Overlap selects what happens at a due instant while an earlier run is active.
type Overlap string

// The ways to handle an active earlier run.
const (
	OverlapAllow    Overlap = "allow"       // start a run if Concurrency permits it (the default)
	OverlapSkip     Overlap = "skip"        // record a skip
	OverlapCancel   Overlap = "cancel_prev" // cancel the earlier runs and start a new one in their place
	OverlapParallel Overlap = "parallel"    // start a run, regardless of how many are active
)

// AfterFailure selects what happens at a due instant after a run that failed, timed out
// or was cancelled.
type AfterFailure string

// The ways to handle an earlier failure.
const (
	FailureRunNew AfterFailure = "run_new" // start a run as usual (the default)
	FailureRetry  AfterFailure = "retry"   // start a run as the next attempt
	FailureSkip   AfterFailure = "skip"    // record one skip; then start a run as the attempt after that
)

// Concurrency selects what happens to a run that would exceed MaxConcurrency.
type Concurrency string

// The ways to handle too many runs.
const (
	ConcurrencyQueue    Concurrency = "queue"    // the run is queued until an earlier one has ended (the default)
	ConcurrencySkip     Concurrency = "skip"     // the run is recorded as skipped
	ConcurrencyParallel Concurrency = "parallel" // the run starts anyway
)

// CatchUp selects what happens to missed instants: those on which no node has acted within
// the fire grace.
type CatchUp string

// The ways to handle missed instants.
const (
	CatchUpNone    CatchUp = "none"    // nothing (the default)
	CatchUpCompact CatchUp = "compact" // start one run, for the last missed instant
	CatchUpFull    CatchUp = "full"    // start a run for each missed instant, within CatchUpLimit and CatchUpWindow
)

// Trigger is what caused a run.
type Trigger string

// The triggers. An instant gets at most one scheduled or catch-up run, never one of
// each.
const (
	TriggerCron     Trigger = "cron"     // the schedule was due
	TriggerCatchUp  Trigger = "catch_up" // the schedule was due earlier, and the instant was missed
	TriggerManual   Trigger = "manual"   // a user or program requested the run
	TriggerBackfill Trigger = "backfill" // a backfill requested the run
)

// SkipReason is the reason why a run was skipped.
type SkipReason string

// The reasons for a skip.
const (
	SkipOverlap     SkipReason = "overlap"     // an earlier run was active, and Overlap is OverlapSkip
	SkipFailure     SkipReason = "failure"     // an earlier run failed, and AfterFailure is FailureSkip
	SkipConcurrency SkipReason = "concurrency" // MaxConcurrency left no room, and the run could not be queued
)

// Fire is one run of a schedule. It consists of a job and the job's role in the schedule.
type Fire struct {
	Job      int64          // ID of the job
	Schedule int64          // ID of the schedule
	Due      time.Time      // due instant that the run belongs to
	Trigger  Trigger        // cause of the run
	Number   int            // attempt number as counted by the schedule: 1, plus one after each failure
	Skip     SkipReason     // reason for skipping the run; empty if it was not skipped
	Queued   bool           // the run waits for an earlier run
	State    fairlead.State // last known state of the job
	EndedAt  time.Time      // zero if the run has not ended
}

// Active reports whether the run has not ended.
func (f *Fire) Active() bool { return !f.State.Final() }

// Failed reports whether the run has failed or was cancelled.
func (f *Fire) Failed() bool { return f.State == fairlead.Failed || f.State == fairlead.Cancelled }

// View is the input to a decision about a schedule.
type View struct {
	Now      time.Time // time of the database's clock
	Calendar *Calendar // nil if the schedule has none or the calendar no longer exists
	Active   []Fire    // runs that have not ended, including queued ones, oldest first
	Last     *Fire     // among the ended runs that were not skipped, the one with the newest instant; nil if there is none
	Skipped  bool      // a run was skipped after Last
	Ended    []Fire    // runs that have ended since the previous View, in the order in which they ended
	Standing Standing  // Standing of the last plan
	// Room is the maximum number of new runs, including skips, and of admitted runs in the
	// plan. Instants beyond it stay due. Zero = unlimited.
	Room int
	// Recorded lists the instants, among those that the previous Plan asked about, that
	// have a run, including skips, regardless of the trigger; in UTC. It is nil in the first
	// View of a decision.
	Recorded map[time.Time]bool

	days *days // of Calendar; nil: each decision reads them anew
}

// Plan is the result of a decision about a schedule.
type Plan struct {
	// Untouched leaves the schedule as it is and ignores the rest of the plan: the instants
	// that have come stay due, and the next View again includes the runs that have ended.
	Untouched bool

	Cancel []int64       // runs to cancel because new ones replace them
	Admit  []int64       // queued runs to release
	Fires  []PlannedFire // new runs
	Cursor Cursor        // new position of the schedule

	Alerts   []*fairlead.Job // jobs that report problems; they are not runs, and the limit on pending jobs does not apply to them
	Standing Standing        // information for the next plan

	// Ask lists instants that may already have runs, which the decision needs to know. The
	// decision is then repeated in the same transaction, with the answer in View.Recorded;
	// the rest of this plan is ignored.
	Ask []time.Time
}

// PlannedFire is a run that a Plan creates.
type PlannedFire struct {
	Due     time.Time       // due instant that the run belongs to
	Trigger Trigger         // cause of the run
	Number  int             // attempt number as counted by the schedule
	Skip    SkipReason      // reason for skipping the run; empty if it is not skipped
	Queued  bool            // the run waits for an earlier run
	Args    json.RawMessage // replaces the template's args; nil keeps them
	Serial  string          // replaces the template's ConcurrencyKey; empty keeps it
	Order   time.Time       // StartBy of the job; zero keeps the template's
}
