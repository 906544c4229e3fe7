package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Client manages the schedules and calendars in a store. It is safe for concurrent use.
type Client struct {
	operations
	store Store
}

// NewClient returns a client that manages the schedules in store.
func NewClient(store Store) *Client { return &Client{operations: operations{store}, store: store} }

// Within returns a client that manages schedules in the caller's transaction. Pass the
// result of the store's Tx method.
func (c *Client) Within(tx CallerTx) *TxClient { return &TxClient{operations{tx}} }

// TxClient manages schedules in the caller's transaction. Its changes take effect when the
// caller commits.
type TxClient struct {
	operations
}

// Put creates the schedule if its Version is zero. Otherwise it replaces the stored schedule
// with the same ID, whose Version must match. The schedule's instants count from now if the
// schedule is new, is enabled again, or its timing or calendar changes. Otherwise the
// schedule continues from its current position. Put returns ErrInvalid if the schedule is
// invalid or its calendar excludes every due instant within eight years, ErrConflict if the
// name is taken or the Version does not match the stored Version, and ErrNotFound if the
// schedule no longer exists.
func (c *Client) Put(ctx context.Context, schedule Schedule) (Schedule, error) {
	return c.put(ctx, schedule)
}

// ByID returns the schedule with the given ID. It returns ErrNotFound if the schedule does
// not exist.
func (c *Client) ByID(ctx context.Context, id int64) (Schedule, error) {
	return c.one(ctx, Filter{IDs: []int64{id}}, fmt.Sprint(id))
}

// Get returns the schedule with the given name. It returns ErrNotFound if the schedule does
// not exist.
func (c *Client) Get(ctx context.Context, name string) (Schedule, error) {
	return c.named(ctx, name)
}

// List lists schedules, ordered by name, one page at a time. If the filter sets Soonest, it
// lists the schedules that fire next instead. List returns ErrInvalid if the filter combines
// Soonest with a field that Soonest excludes.
func (c *Client) List(ctx context.Context, filter Filter) ([]Schedule, error) {
	return c.list(ctx, filter)
}

// Delete removes a schedule and frees its name. It cancels queued runs, and active runs
// continue. Delete returns ErrNotFound if the schedule does not exist.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.DeleteSchedule(ctx, id)
}

// Enable resumes a disabled schedule. Its instants count from now. Enable returns
// ErrNotFound if the schedule does not exist, and ErrConflict if another program changes the
// schedule at the same time.
func (c *Client) Enable(ctx context.Context, id int64) (Schedule, error) {
	return c.setDisabled(ctx, id, false, "")
}

// Disable stops a schedule from starting runs, and stores the reason for users to read.
// Active runs continue. Disable returns ErrNotFound if the schedule does not exist, and
// ErrConflict if another program changes the schedule at the same time.
func (c *Client) Disable(ctx context.Context, id int64, reason string) (Schedule, error) {
	return c.setDisabled(ctx, id, true, reason)
}

func (c *Client) setDisabled(ctx context.Context, id int64, disabled bool, reason string) (Schedule, error) {
	current, err := c.ByID(ctx, id)
	if err != nil || current.Disabled == disabled && current.Reason == reason {
		return current, err
	}
	current.Disabled, current.Reason = disabled, reason
	return c.Put(ctx, current)
}

// Trigger starts a run of a schedule now, even if the schedule is disabled. If args is nil,
// the run uses the args of the schedule's job template. The limit on concurrent runs
// applies, so the run may be queued or skipped. Trigger returns ErrNotFound if the schedule
// does not exist, and ErrInvalid if args are invalid.
func (c *Client) Trigger(ctx context.Context, id int64, args json.RawMessage) (Fire, error) {
	if err := fairlead.CheckJSON("args", args); err != nil {
		return Fire{}, err
	}
	fires, err := c.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) { return s.Manual(v, args), s.readable() })
	if err != nil {
		return Fire{}, err
	}
	return fires[len(fires)-1], nil
}

// Backfill requests runs for past instants.
type Backfill struct {
	From   time.Time // start of the span, inclusive
	To     time.Time // end of the span, exclusive
	Serial bool      // start the runs one after another instead of as many at once as the schedule's MaxConcurrency allows
	Newest bool      // start with the newest instant
	Again  bool      // include instants that already have a run
}

// MaxBackfill is the maximum number of instants in one Backfill.
const MaxBackfill = 10_000

// Backfilled is the result of a Backfill.
type Backfilled struct {
	Runs       []Fire // runs that were created, oldest instant first
	PassedOver int    // number of instants skipped because they already had a run
}

// Backfill starts a run for each instant in a past period. Unless Again is set, it skips
// instants that already have a run, including a skipped run or a run with a different
// trigger. A backfill that is sent twice therefore starts its runs only once. Backfill
// returns ErrNotFound if the schedule does not exist, and ErrInvalid if the period contains
// no instants or more than MaxBackfill.
//
// Each transaction creates at most RunsAtOnce runs, to keep other callers from waiting for
// long. If a transaction fails, Backfill returns the runs created by earlier transactions
// with the error. These runs remain.
func (c *Client) Backfill(ctx context.Context, id int64, b Backfill) (Backfilled, error) {
	seen, view, err := c.look(ctx, id, nil)
	if err != nil {
		return Backfilled{}, err
	}
	instants, err := seen.instantsOf(view, b) // may take long, so no lock is held
	if err != nil {
		return Backfilled{}, err
	}
	var done Backfilled
	for some := range slices.Chunk(instants, RunsAtOnce) {
		passedOver := 0
		fires, err := c.store.Act(ctx, id, func(s Schedule, v View) (plan Plan, err error) {
			plan, passedOver, err = s.fill(v, b, view.Now, some)
			return plan, err
		})
		if err != nil {
			return done, err
		}
		done.Runs, done.PassedOver = append(done.Runs, fires...), done.PassedOver+passedOver
	}
	return done, nil
}

// BackfillPreview describes the runs that a Backfill would start.
type BackfillPreview struct {
	Instants   []time.Time // instants that would get runs, oldest first
	PassedOver int         // number of instants that already have a run
}

// PreviewBackfill returns the instants for which Backfill would start runs. It does not
// start any. Like Backfill, it waits for other transactions that act on the schedule, and it
// returns the same errors.
func (c *Client) PreviewBackfill(ctx context.Context, id int64, b Backfill) (BackfillPreview, error) {
	seen, view, err := c.look(ctx, id, nil)
	if err != nil {
		return BackfillPreview{}, err
	}
	plan, passedOver, err := seen.backfill(view, b) // may take long, so no lock is held
	if err == nil && len(plan.Ask) > 0 {
		var informed View
		if _, informed, err = c.look(ctx, id, plan.Ask); err == nil {
			view.Recorded = informed.Recorded
			plan, passedOver, err = seen.backfill(view, b)
		}
	}
	if err != nil {
		return BackfillPreview{}, err
	}
	preview := BackfillPreview{PassedOver: passedOver}
	for _, fire := range plan.Fires {
		preview.Instants = append(preview.Instants, fire.Due)
	}
	return preview, nil
}

// look returns what a decision about a schedule gets to see, with the instants that it asks
// for, and decides nothing.
func (c *Client) look(ctx context.Context, id int64, ask []time.Time) (seen Schedule, view View, err error) {
	_, err = c.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) {
		if len(ask) > 0 && v.Recorded == nil {
			return Plan{Ask: ask}, nil
		}
		seen, view = s, v
		return Plan{}, errOnlyAsked
	})
	if errors.Is(err, errOnlyAsked) {
		err = nil
	}
	return seen, view, err
}

// Fires lists the matching scheduled runs, newest first.
func (c *Client) Fires(ctx context.Context, filter FireFilter) ([]Fire, error) {
	return c.store.Fires(ctx, filter)
}

// FireOf returns the scheduled run that a job belongs to. A handler calls it to get its
// job's due instant, which does not depend on when or how often the job runs. FireOf returns
// ErrNotFound if no schedule created the job.
func (c *Client) FireOf(ctx context.Context, job int64) (Fire, error) {
	fires, err := c.store.Fires(ctx, FireFilter{Jobs: []int64{job}, Limit: 1})
	if err == nil && len(fires) == 0 {
		err = fmt.Errorf("decode job %d as a run of a schedule: %w", job, fairlead.ErrNotFound)
	}
	if err != nil {
		return Fire{}, err
	}
	return fires[0], nil
}

// Preview lists the next n instants at which a schedule will be due, as if it were enabled.
// The schedule need not be stored. The list is empty if its calendar excludes every due
// instant within eight years. Preview returns ErrInvalid if the schedule is invalid.
func (c *Client) Preview(ctx context.Context, schedule Schedule, n int) ([]time.Time, error) {
	if err := Normalize(&schedule); err != nil {
		return nil, err
	}
	now, err := c.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	if schedule.CreatedAt.IsZero() {
		schedule.CreatedAt = now
	}
	timing, err := c.timing(ctx, &schedule)
	if err != nil {
		return nil, err
	}
	return timing.Preview(now, n), nil
}

// PutCalendar creates the calendar if its Version is zero. Otherwise it replaces the stored
// calendar, whose Version must match. The change applies from now on to all schedules that
// use the calendar. Lists and previews show it immediately, and nodes act on it. PutCalendar
// returns ErrInvalid if the calendar is invalid, ErrConflict if the calendar already exists
// or its Version does not match the stored Version, and ErrNotFound if the calendar no
// longer exists.
func (c *Client) PutCalendar(ctx context.Context, calendar Calendar) (Calendar, error) {
	if err := NormalizeCalendar(&calendar); err != nil {
		return Calendar{}, err
	}
	return c.store.PutCalendar(ctx, calendar)
}

// DeleteCalendar removes a calendar. It returns ErrNotFound if the calendar does not exist,
// and ErrConflict if a schedule uses it.
func (c *Client) DeleteCalendar(ctx context.Context, name string) error {
	return c.store.DeleteCalendar(ctx, name)
}

// Calendars lists all calendars, ordered by name.
func (c *Client) Calendars(ctx context.Context) ([]Calendar, error) {
	return c.store.Calendars(ctx)
}
