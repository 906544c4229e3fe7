package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
)

// WhatIf describes hypothetical changes to schedules and calendars. Client.WhatIf returns
// the changes' effect on the next instants.
type WhatIf struct {
	Changes  []Change // applied in this order
	Instants int      // number of instants per schedule; default fairlead.DefaultForecast, at most fairlead.MaxForecast
}

// Change is one hypothetical change. Exactly one of its fields is set.
type Change struct {
	Schedule *Schedule // as for Put
	Calendar *Calendar // as for PutCalendar; all schedules that use the calendar are compared
}

// MaxForecasts is the maximum number of schedules that a Forecast compares.
const MaxForecasts = 50

// Forecast compares the schedules' next instants without the changes and with them.
type Forecast struct {
	At        time.Time          // time of the forecast, by the database's clock
	Schedules []ScheduleForecast // schedules that were compared
	More      bool               // some schedules that use a changed calendar were not compared
}

// ScheduleForecast compares a schedule's next instants without the changes and with them, up
// to the end of the shorter list. Its prospects are the decisions that a node would make,
// assuming that currently active runs stay as they are and that later runs end well before
// the next instant.
type ScheduleForecast struct {
	ID       int64             // zero for a new schedule
	Name     string            // name of the schedule
	Tenant   string            // tenant of its jobs
	Instants []InstantForecast // sorted by Due
	Moved    int               // number of instants that have an Effect
	Broken   string            // error that prevents a forecast for the current schedule; empty if there is none
	Text     []string          // human-readable summary
}

// InstantForecast describes an instant before and after the changes. At least one of Before
// and After is set.
type InstantForecast struct {
	Due    time.Time     // due instant
	Effect InstantEffect // effect of the changes
	Before *Prospect     // nil if the schedule is not due then without the changes
	After  *Prospect     // nil if the schedule is not due then with the changes
}

// Prospect is what is expected to happen at an instant.
type Prospect struct {
	FireAt  time.Time  // time at which a node acts on it
	Trigger Trigger    // cause of the run
	Skip    SkipReason // reason for skipping it; empty if it is run
	Queued  bool       // the run waits for an earlier one
	Cancels int        // number of active runs that it cancels
}

// InstantEffect is the changes' effect on an instant.
type InstantEffect string

// The effects of a change on an instant.
const (
	SameInstant InstantEffect = ""           // no change
	Appears     InstantEffect = "appears"    // due only with the changes
	Disappears  InstantEffect = "disappears" // due only without the changes
	Moves       InstantEffect = "moves"      // a node acts on it at another time
	Becomes     InstantEffect = "becomes"    // its prospect changes in another way
)

// WhatIf compares the schedules' next instants under the current rules with those after the
// given changes, without applying the changes. It returns the same errors as saving the
// changes: ErrInvalid, ErrConflict or ErrNotFound. With several changes, field names include
// the index of the change, as in changes[1].cron. Like Explain, WhatIf waits for other
// transactions that act on the schedules. Claims do not wait for it. If a calendar changes,
// WhatIf reads all schedules.
func (c *Client) WhatIf(ctx context.Context, question WhatIf) (Forecast, error) {
	w := &asking{Client: c, instants: question.Instants, changed: map[int64]*replaced{}}
	if err := w.begin(ctx, question); err != nil {
		return Forecast{}, err
	}
	for i, change := range question.Changes {
		if err := fairlead.InChange(i, len(question.Changes), w.change(ctx, change)); err != nil {
			return Forecast{}, err
		}
	}
	found := Forecast{At: w.now}
	subjects, err := w.subjects(ctx)
	if err != nil {
		return Forecast{}, err
	}
	if found.More = len(subjects) > MaxForecasts; found.More {
		subjects = subjects[:MaxForecasts]
	}
	for _, id := range subjects {
		forecast, err := w.compare(ctx, id)
		if err != nil {
			return Forecast{}, err
		}
		found.Schedules = append(found.Schedules, forecast)
	}
	for _, made := range w.made {
		forecast, err := w.forecast(ctx, made, nil, View{Now: w.now}, made, View{Now: w.now, Calendar: w.calendars[made.Calendar]})
		if err != nil {
			return Forecast{}, err
		}
		found.Schedules = append(found.Schedules, forecast)
	}
	return found, nil
}

// asking is a question on its way.
type asking struct {
	*Client
	now       time.Time
	instants  int
	calendars calendars // as they would be
	edited    map[string]bool
	changed   map[int64]*replaced
	order     []int64     // of changed
	made      []*Schedule // that are new
}

// replaced is a schedule as it would be.
type replaced struct {
	Schedule
	restart bool // its Cursor counts; else it goes on where it is
}

func (w *asking) begin(ctx context.Context, question WhatIf) (err error) {
	switch {
	case w.instants == 0:
		w.instants = fairlead.DefaultForecast
	case w.instants < 0 || w.instants > fairlead.MaxForecast:
		return refused("instants", "is %d; it must be from 1 to %d", w.instants, fairlead.MaxForecast)
	}
	if len(question.Changes) > fairlead.MaxChanges {
		return refused("changes", "has %d entries; ask about at most %d at once", len(question.Changes), fairlead.MaxChanges)
	}
	if w.now, err = w.store.Now(ctx); err != nil {
		return err
	}
	w.edited = map[string]bool{}
	w.calendars, err = w.calendarsByName(ctx)
	return err
}

func refused(field, format string, args ...any) error {
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: field, Message: fmt.Sprintf(format, args...)}}}
}

// change makes a change to what is asked about, or fails as saving it would.
func (w *asking) change(ctx context.Context, change Change) error {
	switch {
	case change.Schedule != nil && change.Calendar == nil:
		return w.put(ctx, *change.Schedule)
	case change.Calendar != nil && change.Schedule == nil:
		return w.putCalendar(*change.Calendar)
	}
	return refused("change", "must have either a schedule or a calendar")
}

// put is Put.
func (w *asking) put(ctx context.Context, s Schedule) error {
	if err := Normalize(&s); err != nil {
		return err
	}
	var current *Schedule
	if s.Version != 0 {
		found, err := w.ByID(ctx, s.ID)
		if err != nil {
			return err
		}
		current = &found
	}
	restart, err := s.begin(w.now, current, func() (*Timing, error) { return w.calendars.timing(&s) })
	if err != nil {
		return err
	}
	if s.Calendar != "" && w.calendars[s.Calendar] == nil {
		return CalendarMissing(s.Calendar)
	}
	if current != nil && current.Version != s.Version {
		return VersionChanged(current.Name)
	}
	if err := w.free(ctx, &s); err != nil {
		return err
	}
	s.UpdatedAt = w.now
	if current == nil {
		w.made = append(w.made, &s)
		return nil
	}
	if w.changed[s.ID] == nil {
		w.order = append(w.order, s.ID)
	}
	w.changed[s.ID] = &replaced{Schedule: s, restart: restart}
	return nil
}

// free finds out whether the name of a schedule is free.
func (w *asking) free(ctx context.Context, s *Schedule) error {
	named, err := w.Get(ctx, s.Name)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		return nil
	case err == nil && named.ID != s.ID:
		return NameTaken(s.Name)
	}
	return err
}

// putCalendar is PutCalendar. Its version is larger than any there is: cursors are then
// computed anew.
func (w *asking) putCalendar(calendar Calendar) error {
	if err := NormalizeCalendar(&calendar); err != nil {
		return err
	}
	stored := w.calendars[calendar.Name]
	if err := calendar.CheckVersion(versionOf(stored), stored != nil); err != nil {
		return err
	}
	calendar.Version, calendar.UpdatedAt = math.MaxInt64, w.now
	w.calendars[calendar.Name], w.edited[calendar.Name] = &calendar, true
	return nil
}

// subjects are the schedules that change, and those that name a calendar which does: one
// more of all than are compared shows that there are more.
func (w *asking) subjects(ctx context.Context) ([]int64, error) {
	subjects := w.order
	for filter := (Filter{Limit: 1000}); len(w.edited) > 0 && len(subjects) <= MaxForecasts; {
		page, err := w.store.Schedules(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if w.edited[s.Calendar] && w.changed[s.ID] == nil {
				subjects = append(subjects, s.ID)
			}
		}
		if len(page) < filter.Limit {
			break
		}
		filter.After = page[len(page)-1].Name
	}
	return subjects, nil
}

// compare looks at a schedule as a node does, and undoes it.
func (w *asking) compare(ctx context.Context, id int64) (ScheduleForecast, error) {
	var before Schedule
	var now View
	_, err := w.store.Act(ctx, id, func(s Schedule, v View) (Plan, error) {
		before, now = s, v // what follows from it may take long, and nothing is to wait for it
		return Plan{}, errOnlyAsked
	})
	if !errors.Is(err, errOnlyAsked) {
		return ScheduleForecast{}, err
	}
	after := before
	if changed := w.changed[id]; changed != nil {
		after = changed.Schedule
		if !changed.restart {
			after.Cursor = before.Cursor
		}
	}
	then := now
	then.Calendar = w.calendars[after.Calendar]
	return w.forecast(ctx, &after, &before, now, &after, then)
}
