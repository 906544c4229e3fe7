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
	Again  bool      // also for instants that have a run
}

// MaxBackfill is how many instants one Backfill takes.
const MaxBackfill = 10_000

// Backfilled is what a Backfill did.
type Backfilled struct {
	Runs       []Fire // that were made, oldest instant first
	PassedOver int    // instants that have a run already
}

// Backfill makes a run of each instant in a span of time that has passed. It passes over
// instants that have a run already, whatever made it and even if it was skipped, unless
// Again is set: a backfill that is sent twice makes its runs once. It fails with
// ErrNotFound, and with ErrInvalid if there is no instant in the span, or more than MaxBackfill.
//
// Each transaction makes RunsAtOnce runs at most, so that others do not wait for long. If one
// fails, the runs of those before it stay, and are returned with the error.
func (c *Client) Backfill(ctx context.Context, id int64, b Backfill) (Backfilled, error) {
	seen, view, err := c.look(ctx, id, nil)
	if err != nil {
		return Backfilled{}, err
	}
	instants, err := seen.instantsOf(view, b) // it may take long, so that no lock is held meanwhile
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

// BackfillPreview is what a Backfill would do.
type BackfillPreview struct {
	Instants   []time.Time // that would get runs, oldest first
	PassedOver int         // instants that have a run already
}

// PreviewBackfill says of which instants Backfill would make runs, and makes none. Like
// Backfill it waits for those who act upon the schedule, and fails as Backfill would.
func (c *Client) PreviewBackfill(ctx context.Context, id int64, b Backfill) (BackfillPreview, error) {
	seen, view, err := c.look(ctx, id, nil)
	if err != nil {
		return BackfillPreview{}, err
	}
	plan, passedOver, err := seen.backfill(view, b) // it may take long, so that no lock is held meanwhile
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
