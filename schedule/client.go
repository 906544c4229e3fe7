package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Client is how programs use the schedules of a store. It may be used by many
// goroutines.
type Client struct {
	desk
	store Store
}

// NewClient makes a client of a store.
func NewClient(store Store) *Client { return &Client{desk: desk{store}, store: store} }

// Within is the client inside the caller's own transaction: see the Tx method of the
// store in use.
func (c *Client) Within(tx CallerTx) *TxClient { return &TxClient{desk{tx}} }

// TxClient is a client inside the caller's own transaction. What it does counts when the
// caller commits.
type TxClient struct {
	desk
}

// Put creates the schedule if its Version is zero, else it replaces the
// one of that ID and Version. Its instants count from now on if it is new, if it
// is enabled again or if when it is due has changed, or its calendar is another;
// otherwise it goes on where it was. It fails with ErrConflict or ErrNotFound, and
// with ErrInvalid also if the calendar excludes all that it would be due at within
// eight years.
func (c *Client) Put(ctx context.Context, schedule Schedule) (Schedule, error) {
	return c.put(ctx, schedule)
}

// ByID returns a schedule, or ErrNotFound.
func (c *Client) ByID(ctx context.Context, id int64) (Schedule, error) {
	return c.one(ctx, Filter{IDs: []int64{id}}, fmt.Sprint(id))
}

// Get returns the schedule of a name, or ErrNotFound.
func (c *Client) Get(ctx context.Context, name string) (Schedule, error) {
	return c.named(ctx, name)
}

// List lists schedules by name, a page at a time, or those that fire next. It fails with
// ErrInvalid if the filter combines Soonest with what it cannot be combined with.
func (c *Client) List(ctx context.Context, filter Filter) ([]Schedule, error) {
	return c.list(ctx, filter)
}

// Delete removes a schedule; its name is free again. Runs that are active
// go on, queued ones are cancelled. It fails with ErrNotFound.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.DeleteSchedule(ctx, id)
}

// Enable lets a schedule go on, from now on. It fails with ErrNotFound.
func (c *Client) Enable(ctx context.Context, id int64) (Schedule, error) {
	return c.setDisabled(ctx, id, false, "")
}

// Disable stops a schedule, for a reason that is shown. Its runs go on. It
// fails with ErrNotFound.
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

// Trigger makes a run of a schedule now, whether it is enabled or not, with the
// template's args if none are given. How many may run at once counts: the run may
// be queued or skipped. It fails with ErrNotFound or ErrInvalid.
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

// Backfill asks for runs of instants that have passed.
type Backfill struct {
	From   time.Time // the first that counts
	To     time.Time // the first that does not any more
	Serial bool      // one after the other; else all at once, as far as MaxConcurrency of the schedule allows
	Newest bool      // the newest first
}

// MaxBackfill is how many runs one Backfill makes.
const MaxBackfill = 10_000

// Backfill makes a run of each instant in a span of time that has passed, whether
// there was one or not. It fails with ErrNotFound, and with ErrInvalid if these are
// none or more than MaxBackfill.
func (c *Client) Backfill(ctx context.Context, id int64, b Backfill) ([]Fire, error) {
	return c.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) { return s.backfill(v, b) })
}

// PreviewBackfill lists the instants that Backfill would make runs of, oldest first, and
// makes none. Like Backfill it waits for those who act upon the schedule, and fails as
// Backfill would.
func (c *Client) PreviewBackfill(ctx context.Context, id int64, b Backfill) (instants []time.Time, err error) {
	var seen Schedule
	var view View
	_, err = c.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) {
		seen, view = s, v
		return Plan{}, errOnlyAsked
	})
	if !errors.Is(err, errOnlyAsked) {
		return nil, err
	}
	plan, err := seen.backfill(view, b) // it may take long, so that no lock is held meanwhile
	if err != nil {
		return nil, err
	}
	for _, fire := range plan.Fires {
		instants = append(instants, fire.Due)
	}
	return instants, nil
}

// Fires lists runs of schedules, newest first.
func (c *Client) Fires(ctx context.Context, filter FireFilter) ([]Fire, error) {
	return c.store.Fires(ctx, filter)
}

// FireOf returns the run that a job is: a handler asks for the instant that the job stands
// for, however late or often it runs. It fails with ErrNotFound if no schedule made the job.
func (c *Client) FireOf(ctx context.Context, job int64) (Fire, error) {
	fires, err := c.store.Fires(ctx, FireFilter{Jobs: []int64{job}, Limit: 1})
	if err == nil && len(fires) == 0 {
		err = fmt.Errorf("job %d as a run of a schedule: %w", job, fairlead.ErrNotFound)
	}
	if err != nil {
		return Fire{}, err
	}
	return fires[0], nil
}

// Preview lists the next instants at which a schedule will be due, as if it were
// enabled. The schedule need not be stored. There are none if its calendar excludes
// all of them for eight years.
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

// PutCalendar creates the calendar if its Version is zero, else it replaces the
// one of that Version. It counts from now on for all schedules that name it: what is
// listed and previewed agrees at once, and nodes act by it. It fails with ErrInvalid,
// ErrConflict or ErrNotFound.
func (c *Client) PutCalendar(ctx context.Context, calendar Calendar) (Calendar, error) {
	if err := NormalizeCalendar(&calendar); err != nil {
		return Calendar{}, err
	}
	return c.store.PutCalendar(ctx, calendar)
}

// DeleteCalendar removes a calendar. It fails with ErrNotFound, and with
// ErrConflict while a schedule names it.
func (c *Client) DeleteCalendar(ctx context.Context, name string) error {
	return c.store.DeleteCalendar(ctx, name)
}

// Calendars lists all calendars by name.
func (c *Client) Calendars(ctx context.Context) ([]Calendar, error) {
	return c.store.Calendars(ctx)
}
