package schedule

import (
	"hash/fnv"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

// Timing computes the instants at which a schedule is due.
type Timing struct {
	schedule *Schedule
	zone     *time.Location
	next     func(after time.Time) time.Time // zero: none
	prev     func(before time.Time) time.Time
	calendar *days
	version  int64 // of the calendar; zero: none
}

// NewTiming returns the timing of a schedule that has passed through Normalize. It returns
// an error if the schedule cannot be read, for example because its time zone is unknown on
// this machine.
func NewTiming(s *Schedule, calendar *Calendar) (*Timing, error) {
	return newTiming(s, daysOf(calendar), versionOf(calendar))
}

// newTiming is NewTiming with a calendar that was read before.
func newTiming(s *Schedule, calendar *days, version int64) (*Timing, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, err
	}
	t := &Timing{schedule: s, zone: zone, calendar: calendar, version: version}
	return t, t.read()
}

func (t *Timing) read() error {
	switch s := t.schedule; {
	case s.Cron != "":
		expr, err := cron.Parse(s.Cron)
		if err != nil {
			return err
		}
		if expr.Interval() > 0 {
			t.every(expr)
			return nil
		}
		t.next = func(after time.Time) time.Time { return expr.Next(after, t.zone) }
		t.prev = func(before time.Time) time.Time { return expr.Prev(before, t.zone) }
	case s.Every > 0:
		expr, err := cron.Every(s.Every)
		if err != nil {
			return err
		}
		t.every(expr)
	case s.Daily != "":
		daily, err := cron.ParseDaily(s.Daily)
		if err != nil {
			return err
		}
		t.next = func(after time.Time) time.Time { return daily.Next(after, t.zone) }
		t.prev = func(before time.Time) time.Time { return daily.Prev(before, t.zone) }
	default: // once, or when the last run has ended: only the cursor knows
		t.next = func(time.Time) time.Time { return time.Time{} }
		t.prev = t.next
	}
	return nil
}

// every counts from where the schedule begins.
func (t *Timing) every(expr cron.Expr) {
	anchor := t.schedule.StartsAt
	if anchor.IsZero() {
		anchor = t.schedule.CreatedAt
	}
	t.next = func(after time.Time) time.Time { return expr.NextEvery(anchor, after) }
	t.prev = func(before time.Time) time.Time { return expr.PrevEvery(anchor, before) }
}

// farthest is how far a search for an instant that no calendar excludes looks. A
// schedule that is not due for longer is looked at again then.
const farthest = 8 * 366 * 24 * time.Hour

// Next returns the first due instant after the given time. It returns the zero time if there
// is none, or if the calendar excludes every due instant within eight years.
func (t *Timing) Next(after time.Time) time.Time {
	due, _ := t.search(after)
	return due
}

// search is Next, and reports whether a calendar is why there is none. Each step
// leaves days behind, so there are not more steps than days up to the horizon.
func (t *Timing) search(after time.Time) (due time.Time, excluded bool) {
	s := t.schedule
	if !s.StartsAt.IsZero() && after.Before(s.StartsAt) {
		after = s.StartsAt.Add(-time.Microsecond)
	}
	limit := after.Add(farthest)
	for {
		due := t.next(after)
		switch {
		case due.IsZero(), !s.EndsAt.IsZero() && !due.Before(s.EndsAt):
			return time.Time{}, false
		case !t.excludes(due):
			return due, false
		case due.After(limit):
			return time.Time{}, true
		}
		after = t.calendar.leave(due.In(t.zone), limit).Add(-time.Microsecond)
	}
}

func (t *Timing) excludes(due time.Time) bool { return t.calendar.exclude(due.In(t.zone)) }

// Prev returns the last due instant before the given time. It returns the zero time if there
// is none, or if the calendar excludes every due instant within the preceding eight years.
func (t *Timing) Prev(before time.Time) time.Time {
	s := t.schedule
	if !s.EndsAt.IsZero() && before.After(s.EndsAt) {
		before = s.EndsAt
	}
	limit := before.Add(-farthest)
	for {
		due := t.prev(before)
		switch {
		case due.IsZero(), !s.StartsAt.IsZero() && due.Before(s.StartsAt):
			return time.Time{}
		case !t.excludes(due):
			return due
		case due.Before(limit):
			return time.Time{}
		}
		before = t.calendar.enter(due.In(t.zone), limit)
	}
}

// Preview returns the next n due instants after the given time.
func (t *Timing) Preview(after time.Time, n int) []time.Time {
	var instants []time.Time
	if first := t.Start(after); !first.IsZero() {
		for due := first; !due.IsZero() && len(instants) < n; due = t.Next(due) {
			instants = append(instants, due)
		}
	}
	return instants
}

// Offset returns the schedule's share of the jitter. It never changes, so the intervals
// between the schedule's runs are the same as those between its instants.
func (t *Timing) Offset() time.Duration {
	jitter := t.schedule.Jitter
	if jitter <= 0 {
		return 0
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(t.schedule.Name)) // never fails
	return time.Duration(hash.Sum64()%uint64(jitter)) / time.Microsecond * time.Microsecond
}

// Words describes the timing in plain English. The description does not include the jitter,
// the calendar, the start or the end.
func (t *Timing) Words() string {
	var words string
	switch s := t.schedule; {
	case s.Cron != "":
		expr, err := cron.Parse(s.Cron)
		if err != nil {
			return "" // cannot happen: Normalize has parsed it
		}
		words = expr.Describe()
	case s.Every > 0:
		return "every " + s.Every.String()
	case s.Delay > 0:
		return s.Delay.String() + " after the end of each run"
	case s.Daily != "":
		daily, err := cron.ParseDaily(s.Daily)
		if err != nil {
			return "" // cannot happen: Normalize has parsed it
		}
		words = daily.Describe()
	default:
		return "once, at " + s.At.In(t.zone).Format("2006-01-02 15:04:05 MST")
	}
	return words + " (" + t.zone.String() + ")"
}
