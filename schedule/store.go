package schedule

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps schedules and makes their runs.
//
// A schedule's runs are jobs that were made by one transaction together with the
// advance of its cursor, under the lock of its row: each due instant leads to one
// run or to one recorded skip, whichever node acts upon it, however often and on however
// many nodes, and none is lost with a node. Runs by the clock and to catch up
// share their instants: a schedule has one of them at most.
type Store interface {
	// PutSchedule creates the schedule if its Version is zero, else it replaces the
	// one of that ID and Version, and returns it as stored. The schedule has been
	// through Normalize. Its Cursor counts if it is created or if restart
	// says so; otherwise the stored one stays. A CreatedAt of a new one is kept, as its
	// instants may be counted from it; zero is now. It fails with ErrConflict if another
	// living schedule has the name or this one has another Version by now, with
	// ErrNotFound if it does not exist, and with ErrInvalid if its calendar does not
	// exist. A Cursor that was computed with another version of the calendar than there
	// is leaves the schedule Outdated.
	PutSchedule(ctx context.Context, schedule Schedule, restart bool) (Schedule, error)
	// DeleteSchedule removes a schedule; its name is free again. Runs that are active
	// go on, queued ones end as cancelled, and all of them can still be read. It fails
	// with ErrNotFound.
	DeleteSchedule(ctx context.Context, id int64) error
	// Schedules lists living schedules by name. One whose stored form cannot be read
	// says so in Broken, here and to decide, and holds up no other. With Soonest it lists
	// those that are enabled and have a FireAt, by FireAt and then by ID, and reads about
	// as many as it returns; the caller gives no other field then but Limit, and Enabled
	// if that is true.
	Schedules(ctx context.Context, filter Filter) ([]Schedule, error)

	// Tick takes at most limit enabled schedules whose FireAt has come, earliest first. It
	// also takes schedules, enabled or not, that are Outdated or have runs that ended since
	// the last Tick or Act took them. It skips those that another caller holds. A change of
	// a calendar by a slow transaction or an older program may be found a minute late.
	//
	// For each schedule it calls decide with the View and carries out the plan, all in one
	// transaction. A run that has ended is in one View only; a run whose job is missing
	// counts as failed. The alerts of a plan are stored if and only if the rest of it is. A
	// job that cannot be stored becomes a failed run, with the reason. The Cursor of a plan
	// counts as computed with the calendar of the View. decide must not use the store, and
	// may be called again for a schedule if the transaction has to be repeated. A plan that
	// keeps to the Room of its View keeps the transaction short; the schedules share the room
	// for RunsAtOnce runs. A schedule whose plan is Untouched stays as it is: it is due, and its
	// runs that have ended are in the next View again.
	//
	// Tick waits only briefly for a key, or for a run that a plan cancels or admits, which
	// another transaction holds. Then it leaves that schedule as it is, carries out the others,
	// and tries the schedule again later, alone: the transaction of a caller may stay open for
	// long. The answer names the schedule.
	//
	// Tick returns how long it is until the next schedule is due.
	Tick(ctx context.Context, limit int, decide func(Schedule, View) Plan) (Ticked, error)
	// Act does the same with one living schedule, due or not, and returns the runs
	// that were made. What decide returns as an error undoes it. It fails with
	// ErrNotFound.
	Act(ctx context.Context, id int64, decide func(Schedule, View) (Plan, error)) ([]Fire, error)
	// Fires returns the runs that match, newest (largest job ID) first, with the state
	// that their jobs have now. Those of deleted schedules are among them as long as
	// their jobs are kept.
	Fires(ctx context.Context, filter FireFilter) ([]Fire, error)

	// PutCalendar creates or replaces a calendar by name, as PutTenant does by
	// Version. It counts from now on: schedules that name it are Outdated until Tick
	// or Act has taken them.
	PutCalendar(ctx context.Context, calendar Calendar) (Calendar, error)
	// DeleteCalendar removes a calendar. It fails with ErrNotFound, and with
	// ErrConflict while a living schedule names it.
	DeleteCalendar(ctx context.Context, name string) error
	// Calendars lists all calendars by name.
	Calendars(ctx context.Context) ([]Calendar, error)

	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Explain says why a job does not run, or how it runs. It fails with ErrNotFound.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
}

// CallerTx is the caller's own transaction, made by the Tx method of a store. What it does
// becomes visible when the caller commits, and never if the caller rolls back.
type CallerTx interface {
	// PutSchedule is Store.PutSchedule inside the transaction. A conflict leaves the
	// transaction as it was: the caller may go on.
	PutSchedule(ctx context.Context, schedule Schedule, restart bool) (Schedule, error)
	// Schedules is Store.Schedules, and sees what the transaction did.
	Schedules(ctx context.Context, filter Filter) ([]Schedule, error)
	// Calendars lists all calendars by name.
	Calendars(ctx context.Context) ([]Calendar, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Filter chooses living schedules. Empty fields choose all.
type Filter struct {
	IDs     []int64
	Names   []string
	Tenants []string // of their jobs
	Enabled *bool
	After   string // only names behind this one: the last of the page before
	Limit   int    // zero means 100
	// Soonest lists the enabled schedules that will fire, the one that fires next first. It
	// has no pages, and is not combined with IDs, Names, Tenants, After or an Enabled that is
	// false. One that a changed calendar brings forward may be missing until a node has
	// acted upon the change.
	Soonest bool
}

// FireFilter chooses runs. Empty fields choose all.
type FireFilter struct {
	Schedule int64
	Jobs     []int64
	Below    int64 // only job IDs smaller than this: the last of the page before
	Limit    int   // zero means 100
}

// Ticked is the answer of Tick.
type Ticked struct {
	Schedules int           // that were acted upon
	Runs      int           // that were made, skips too
	Next      time.Duration // until the next schedule is due; zero if some are left, negative if there is none
	// Waiting lists the schedules that this tick decided about and then left as they were,
	// because another transaction holds a key or a run that they need.
	Waiting []Waiting
}

// Waiting is a schedule that needs a key or a run which another transaction holds: a caller's
// that is still open, or one of a store that ends soon.
type Waiting struct {
	Schedule int64
	Name     string
	Key      string  // unique key of the run that it is to make; empty if the run has none
	Runs     []int64 // jobs of earlier runs that it is to cancel or to let go
	// Tries counts how often in a row the store has found that this schedule has to wait. It
	// is zero if the store took it together with others, and does not know yet which of them
	// has to.
	Tries int
}
