package schedule

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// desk reads and stores schedules, in a transaction of the caller's or of their own.
type desk struct {
	tx CallerTx
}

func (d desk) put(ctx context.Context, schedule Schedule) (Schedule, error) {
	if err := Normalize(&schedule); err != nil {
		return Schedule{}, err
	}
	now, err := d.tx.Now(ctx)
	if err != nil {
		return Schedule{}, err
	}
	restart := true
	schedule.CreatedAt = now
	if schedule.Version != 0 {
		current, err := d.one(ctx, Filter{IDs: []int64{schedule.ID}}, fmt.Sprint(schedule.ID))
		if err != nil {
			return Schedule{}, err
		}
		restart = schedule.restarts(&current)
		schedule.CreatedAt = current.CreatedAt
	}
	schedule.Cursor = Cursor{}
	if restart && !schedule.Disabled {
		timing, err := d.timing(ctx, &schedule)
		if err == nil {
			err = timing.everDue(now)
		}
		if err != nil {
			return Schedule{}, err
		}
		schedule.Cursor = timing.Begin(now)
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

// restarts reports whether a schedule that replaces another counts from now on.
func (s *Schedule) restarts(before *Schedule) bool {
	return s.Disabled != before.Disabled || s.Cron != before.Cron || s.Every != before.Every || s.Delay != before.Delay || s.Daily != before.Daily ||
		!s.At.Equal(before.At) || s.Zone != before.Zone || s.Calendar != before.Calendar || !s.StartsAt.Equal(before.StartsAt) || !s.EndsAt.Equal(before.EndsAt)
}

// timing is when a schedule is due.
func (d desk) timing(ctx context.Context, s *Schedule) (*Timing, error) {
	if s.Calendar == "" {
		return NewTiming(s, nil)
	}
	calendars, err := d.calendarsByName(ctx)
	if err != nil {
		return nil, err
	}
	calendar, exists := calendars[s.Calendar]
	if !exists {
		return nil, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "calendar", Message: fmt.Sprintf("%q does not exist; create it first", s.Calendar)}}}
	}
	return NewTiming(s, calendar)
}

func (d desk) calendarsByName(ctx context.Context) (map[string]*Calendar, error) {
	calendars, err := d.tx.Calendars(ctx)
	byName := make(map[string]*Calendar, len(calendars))
	for i := range calendars {
		byName[calendars[i].Name] = &calendars[i]
	}
	return byName, err
}

// listed brings the cursors of schedules up to date whose calendar has changed:
// what is shown agrees with a preview before a node has come by.
func (d desk) listed(ctx context.Context, schedules []Schedule) ([]Schedule, error) {
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
	for i := range schedules {
		if s := &schedules[i]; s.Outdated {
			s.Cursor, s.Outdated = s.listed(calendars[s.Calendar], now), false
		}
	}
	return schedules, nil
}

func (d desk) named(ctx context.Context, name string) (Schedule, error) {
	return d.one(ctx, Filter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

func (d desk) one(ctx context.Context, filter Filter, what string) (Schedule, error) {
	found, err := d.list(ctx, filter)
	if err != nil {
		return Schedule{}, err
	}
	if len(found) == 0 {
		return Schedule{}, fmt.Errorf("schedule %s: %w", what, fairlead.ErrNotFound)
	}
	return found[0], nil
}

func (d desk) list(ctx context.Context, filter Filter) ([]Schedule, error) {
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
