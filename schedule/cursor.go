package schedule

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/cron"
)

// Start returns the first due instant of a schedule that begins at now. It returns the zero
// time if there is none, or if the calendar excludes every due instant within eight years.
func (t *Timing) Start(now time.Time) time.Time {
	due, _ := t.start(now)
	return due
}

// start is Start, and reports whether a calendar is why there is none.
func (t *Timing) start(now time.Time) (due time.Time, excluded bool) {
	s := t.schedule
	switch {
	case s.Delay > 0:
		return t.free(latest(now, s.StartsAt))
	case s.At.IsZero():
		return t.search(now)
	case !s.EndsAt.IsZero() && !s.At.Before(s.EndsAt):
		return time.Time{}, false
	case t.excludes(s.At):
		return time.Time{}, true
	}
	return s.At, false
}

// everDue returns the ErrInvalid of a schedule that its calendar never lets be due.
func (t *Timing) everDue(now time.Time) error {
	_, excluded := t.start(now)
	s := t.schedule
	switch {
	case !excluded:
		return nil
	case !s.At.IsZero():
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "calendar", Message: fmt.Sprintf("%q excludes the day given in at; choose another day or omit the calendar", s.Calendar)}}}
	}
	return &fairlead.InvalidError{Fields: []fairlead.FieldError{{
		Field: "calendar", Message: fmt.Sprintf("%q excludes every instant of the schedule: it is never due within 8 years; change the calendar or the timing of the schedule", s.Calendar),
	}}}
}

// free is the first moment from one on at which a schedule that needs no certain
// time may be due: the beginning of the next day if its calendar excludes this one.
func (t *Timing) free(from time.Time) (due time.Time, excluded bool) {
	limit := from.Add(farthest)
	due = t.calendar.leave(from.In(t.zone), limit)
	switch s := t.schedule; {
	case !s.EndsAt.IsZero() && !due.Before(s.EndsAt):
		return time.Time{}, false
	case due.After(limit):
		return time.Time{}, true
	}
	return due.In(from.Location()), false
}

// Cursor returns the position of a schedule whose next due instant is due.
func (t *Timing) Cursor(due time.Time) Cursor {
	if due.IsZero() {
		return Cursor{CalendarVersion: t.version}
	}
	return Cursor{Due: due, FireAt: due.Add(t.Offset()), CalendarVersion: t.version}
}

// cursor is Cursor of an instant that was searched for from a moment on. If a
// calendar is why there is none, it is searched again when the horizon is reached:
// the next one may lie behind it, as a 29 February on a Monday does.
func (t *Timing) cursor(from, due time.Time, excluded bool) Cursor {
	cursor := t.Cursor(due)
	if excluded && t.schedule.At.IsZero() {
		cursor.FireAt = latest(from, t.schedule.StartsAt).Add(farthest)
	}
	return cursor
}

// Begin returns the initial position of a schedule that begins at now.
func (t *Timing) Begin(now time.Time) Cursor {
	due, excluded := t.start(now)
	return t.cursor(now, due, excluded)
}

// after is the cursor of a schedule that has come to some moment.
func (t *Timing) after(moment time.Time) Cursor {
	due, excluded := t.search(moment)
	return t.cursor(moment, due, excluded)
}

// afterRun is the cursor of a schedule whose delay ends at some moment.
func (t *Timing) afterRun(moment time.Time) Cursor {
	due, excluded := t.free(moment)
	return t.cursor(moment, due, excluded)
}

// recount is the cursor that a schedule has by another calendar than the one it was
// computed with. What was due up to some moment stays as it was decided.
func (t *Timing) recount(before Cursor, decided time.Time) Cursor {
	s := t.schedule
	undecided := !before.Due.IsZero() && !before.Due.After(decided)
	switch {
	case s.Delay > 0 && before.Due.IsZero() && before.FireAt.IsZero():
		return t.Cursor(time.Time{}) // waits for the end of a run
	case s.Delay > 0:
		if undecided || !t.putOff(before) {
			return t.afterRun(before.Due)
		}
		return t.afterRun(latest(decided, s.StartsAt))
	case !s.At.IsZero():
		if before.Due.IsZero() && !s.At.After(decided) {
			return t.Cursor(time.Time{})
		}
		return t.Begin(decided)
	case undecided:
		return t.after(before.Due.Add(-time.Microsecond))
	}
	return t.after(decided)
}

// putOff reports whether a calendar may be why a schedule with a delay is not due earlier:
// such a schedule is due at the beginning of a day, or never.
func (t *Timing) putOff(c Cursor) bool {
	due := c.Due.In(t.zone)
	return c.Due.IsZero() || cron.DayBegan(due).Equal(due)
}

// versionOf is the version of a calendar, zero if there is none.
func versionOf(calendar *Calendar) int64 {
	if calendar == nil {
		return 0
	}
	return calendar.Version
}

// latest is the last of some moments.
func latest(moments ...time.Time) (last time.Time) {
	for _, moment := range moments {
		if moment.After(last) {
			last = moment
		}
	}
	return last
}
