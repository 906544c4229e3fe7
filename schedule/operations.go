package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// operations are the methods that Client and TxClient share. They read and store schedules,
// in the caller's transaction or in their own.
type operations struct {
	tx CallerTx
}

func (d operations) put(ctx context.Context, schedule Schedule) (Schedule, error) {
	if err := Normalize(&schedule); err != nil {
		return Schedule{}, err
	}
	now, err := d.tx.Now(ctx)
	if err != nil {
		return Schedule{}, err
	}
	var current *Schedule
	if schedule.Version != 0 {
		found, err := d.one(ctx, Filter{IDs: []int64{schedule.ID}}, fmt.Sprint(schedule.ID))
		if err != nil {
			return Schedule{}, err
		}
		current = &found
	}
	restart, err := schedule.begin(now, current, func() (*Timing, error) { return d.timing(ctx, &schedule) })
	if err != nil {
		return Schedule{}, err
	}
	stored, err := d.tx.PutSchedule(ctx, schedule, restart)
	if err != nil {
		return Schedule{}, err
	}
	listed, err := d.listed(ctx, []Schedule{stored})
	if err != nil {
		return Schedule{}, err
	}
	return listed[0], nil
}

// begin sets from when on a schedule counts that is new, or replaces the current one. It
// reports whether that is from now on. It fails if the schedule would never be due.
func (s *Schedule) begin(now time.Time, current *Schedule, timing func() (*Timing, error)) (restart bool, err error) {
	s.CreatedAt, restart = now, true
	if current != nil {
		s.CreatedAt, restart = current.CreatedAt, s.restarts(current)
	}
	s.Cursor = Cursor{}
	if !restart || s.Disabled {
		return restart, nil
	}
	t, err := timing()
	if err == nil {
		err = t.everDue(now)
	}
	if err == nil {
		s.Cursor = t.Begin(now)
	}
	return restart, err
}

// restarts reports whether a schedule that replaces another counts from now on.
func (s *Schedule) restarts(before *Schedule) bool {
	return s.Disabled != before.Disabled || s.Cron != before.Cron || s.Every != before.Every || s.Delay != before.Delay || s.Daily != before.Daily ||
		!s.At.Equal(before.At) || s.Zone != before.Zone || s.Calendar != before.Calendar || !s.StartsAt.Equal(before.StartsAt) || !s.EndsAt.Equal(before.EndsAt)
}

// timing is when a schedule is due.
func (d operations) timing(ctx context.Context, s *Schedule) (*Timing, error) {
	if s.Calendar == "" {
		return NewTiming(s, nil)
	}
	calendars, err := d.calendarsByName(ctx)
	if err != nil {
		return nil, err
	}
	return calendars.timing(s)
}

// calendars are all of them, by name.
type calendars map[string]*Calendar

// timing is when a schedule is due.
func (c calendars) timing(s *Schedule) (*Timing, error) {
	calendar, exists := c[s.Calendar]
	if s.Calendar != "" && !exists {
		return nil, CalendarMissing(s.Calendar)
	}
	return NewTiming(s, calendar)
}

func (d operations) calendarsByName(ctx context.Context) (calendars, error) {
	calendars, err := d.tx.Calendars(ctx)
	byName := make(map[string]*Calendar, len(calendars))
	for i := range calendars {
		byName[calendars[i].Name] = &calendars[i]
	}
	return byName, err
}

// listed brings the cursors of schedules up to date whose calendar has changed:
// what is shown agrees with a preview before a node has come by.
func (d operations) listed(ctx context.Context, schedules []Schedule) ([]Schedule, error) {
	if !slices.ContainsFunc(schedules, func(s Schedule) bool { return s.Outdated }) {
		return schedules, nil
	}
	now, err := d.tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	calendars, err := d.calendarsByName(ctx)
	if err != nil {
		return nil, err
	}
	read := map[string]*days{}
	for i := range schedules {
		if s := &schedules[i]; s.Outdated {
			calendar := calendars[s.Calendar]
			if read[s.Calendar] == nil {
				read[s.Calendar] = daysOf(calendar)
			}
			s.Cursor, s.Outdated = s.listed(View{Now: now, Calendar: calendar, days: read[s.Calendar]}), false
		}
	}
	return schedules, nil
}

func (d operations) named(ctx context.Context, name string) (Schedule, error) {
	return d.one(ctx, Filter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

func (d operations) one(ctx context.Context, filter Filter, what string) (Schedule, error) {
	found, err := d.list(ctx, filter)
	if err != nil {
		return Schedule{}, err
	}
	if len(found) == 0 {
		return Schedule{}, fmt.Errorf("schedule %s: %w", what, fairlead.ErrNotFound)
	}
	return found[0], nil
}

func (d operations) list(ctx context.Context, filter Filter) ([]Schedule, error) {
	if err := filter.check(); err != nil {
		return nil, err
	}
	found, err := d.tx.Schedules(ctx, filter)
	if err == nil {
		found, err = d.listed(ctx, found)
	}
	if err == nil && filter.Soonest {
		found = upcoming(found)
	}
	return found, err
}
