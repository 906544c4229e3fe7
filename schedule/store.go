package schedule

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store stores schedules and creates their runs.
//
// One transaction creates the jobs for a schedule's runs and advances its cursor, while it
// holds the lock on the schedule's row. Each due instant therefore leads to exactly one run
// or one recorded skip, even if several nodes act on it. No instant is lost if a node dies.
// Scheduled and catch-up runs share their instants: each instant has at most one of them.
type Store interface {
	// PutSchedule creates the schedule if its Version is zero, and otherwise replaces the
	// stored schedule of that ID and Version. It returns the schedule as stored. The
	// caller has passed the schedule through Normalize. Its Cursor is used if the schedule
	// is created or if restart is true; otherwise the stored cursor stays. The CreatedAt
	// of a new schedule is kept, because its instants may be counted from it; zero means
	// now.
	//
	// PutSchedule returns ErrConflict if another live schedule has the name or this one
	// has another Version by now, ErrNotFound if it does not exist, and ErrInvalid if its
	// calendar does not exist. If the Cursor was computed with a version of the calendar
	// other than the stored one, the schedule becomes Outdated.
	PutSchedule(ctx context.Context, schedule Schedule, restart bool) (Schedule, error)
	// DeleteSchedule removes a schedule and frees its name. Active runs continue, queued
	// runs end as cancelled, and all of them can still be read. It returns ErrNotFound for
	// an unknown schedule.
	DeleteSchedule(ctx context.Context, id int64) error
	// Schedules lists live schedules by name. A schedule with a stored form that cannot
	// be read has Broken set, here and in decide, and does not affect the others. With Soonest,
	// Schedules lists the enabled schedules that have a FireAt, by FireAt and then by ID,
	// and reads about as many as it returns; the caller then sets no other field except
	// Limit, and Enabled if it is true.
	Schedules(ctx context.Context, filter Filter) ([]Schedule, error)

	// Tick takes at most limit enabled schedules that have reached FireAt, earliest first. It
	// also takes schedules, enabled or not, that are Outdated or have runs that ended
	// since the last Tick or Act took them. It skips schedules that another caller holds.
	// A calendar change by a slow transaction or an older program may be noticed a minute
	// late.
	//
	// For each schedule Tick calls decide with the View and carries out the plan, all in
	// one transaction. A run that has ended appears in one View only; a run without a job
	// counts as failed. The alerts of a plan are stored if and only if the rest of
	// it is. A job that cannot be stored becomes a failed run, with the reason. The Cursor
	// of a plan counts as computed with the calendar of the View. decide must not use the
	// store, and may be called again for a schedule if the transaction has to be repeated.
	//
	// A plan that stays within the Room of its View keeps the transaction short; the
	// schedules share the room for RunsAtOnce runs. A schedule with an Untouched plan
	// stays as it is: it remains due, and the next View again includes its ended runs.
	//
	// Tick waits only briefly if another transaction holds a key, or a run that a plan
	// cancels or admits. Then it leaves that schedule as it is, carries out the others,
	// and tries the schedule again later, alone, because a caller's transaction may stay
	// open for a long time. The result names the schedule.
	//
	// Tick returns the time until the next schedule is due.
	Tick(ctx context.Context, limit int, decide func(Schedule, View) Plan) (Ticked, error)
	// Act processes one live schedule as Tick does, whether or not it is due, and returns
	// the runs that were created. An error from decide rolls the transaction back. Act
	// returns ErrNotFound for an unknown schedule.
	Act(ctx context.Context, id int64, decide func(Schedule, View) (Plan, error)) ([]Fire, error)
	// Fires returns the matching runs, newest (largest job ID) first, with the current
	// states of their jobs. Runs of deleted schedules are included as long as their jobs
	// are kept.
	Fires(ctx context.Context, filter FireFilter) ([]Fire, error)

	// PutCalendar creates a calendar, or replaces the one of that name, with Version used
	// as in PutTenant. The change applies from now on: schedules that use the calendar are
	// Outdated until Tick or Act has taken them.
	PutCalendar(ctx context.Context, calendar Calendar) (Calendar, error)
	// DeleteCalendar removes a calendar. It returns ErrNotFound for an unknown calendar,
	// and ErrConflict while a live schedule uses it.
	DeleteCalendar(ctx context.Context, name string) error
	// Calendars lists all calendars by name.
	Calendars(ctx context.Context) ([]Calendar, error)

	// Now returns the time of the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Explain reports why a job does not run, or how its run is going. It returns
	// ErrNotFound for an unknown job.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
}

// CallerTx is the caller's own transaction. A store's Tx method creates it. Its changes
// become visible when the caller commits, and never if the caller rolls back.
type CallerTx interface {
	// PutSchedule stores a schedule inside the transaction, like Store.PutSchedule. An
	// ErrConflict leaves the transaction unchanged, and the caller may continue.
	PutSchedule(ctx context.Context, schedule Schedule, restart bool) (Schedule, error)
	// Schedules lists schedules like Store.Schedules, including the transaction's own
	// changes.
	Schedules(ctx context.Context, filter Filter) ([]Schedule, error)
	// Calendars lists all calendars by name.
	Calendars(ctx context.Context) ([]Calendar, error)
	// Now returns the time of the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Filter selects live schedules. An empty field matches every schedule.
type Filter struct {
	IDs     []int64
	Names   []string
	Tenants []string // tenants of their jobs
	Enabled *bool    // true for enabled schedules only, false for disabled ones only
	After   string   // only names after this one: the last name of the previous page
	Limit   int      // maximum number of schedules; zero means 100
	// Soonest lists the enabled schedules that will fire, starting with the one that fires
	// next. It has no pages, and cannot be combined with IDs, Names, Tenants, After or an
	// Enabled that is false. A schedule that a changed calendar brings forward may be
	// missing until a node has acted on the change.
	Soonest bool
}

// FireFilter selects scheduled runs. An empty field matches every run.
type FireFilter struct {
	Schedule int64
	Jobs     []int64
	Below    int64 // only job IDs below this one: the last ID of the previous page
	Limit    int   // maximum number of runs; zero means 100
}

// Ticked is the result of Tick.
type Ticked struct {
	Schedules int           // number of schedules acted on
	Runs      int           // number of runs created, including skips
	Next      time.Duration // time until the next schedule is due; zero if some are left, negative if there is none
	// Waiting lists the schedules that this tick decided about but left as they were,
	// because another transaction holds a key or a run that they need.
	Waiting []Waiting
}

// Waiting is a schedule that needs a key or run that another transaction holds. The other
// transaction may be a caller's open transaction or a store's short one.
type Waiting struct {
	Schedule int64   // ID of the schedule
	Name     string  // name of the schedule
	Key      string  // unique key of the run to create; empty if the run has none
	Runs     []int64 // jobs of earlier runs to cancel or admit
	// Tries is the number of times in a row that the store has found this schedule
	// waiting. It is zero if the store took the schedule together with others and does not
	// know yet which of them has to wait.
	Tries int
}
