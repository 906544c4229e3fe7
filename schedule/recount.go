package schedule

import "time"

// A cursor is computed by the calendar that there is at that time. It remembers the
// version: a calendar that was changed since, or another one, counts as soon as the
// schedule is decided about or read. Tick comes by for those that would be due
// sooner.

// waits reports whether the schedule is only to be searched again: its calendar
// excluded all that lay within the horizon.
func (c *Cursor) waits() bool { return c.Due.IsZero() && !c.FireAt.IsZero() }

// upToDate is the schedule with a cursor by the calendar as it is now. If it cannot
// be read it stays as it is: who decides finds out.
func (s *Schedule) upToDate(v View) *Schedule {
	if s.CalendarVersion == versionOf(v.Calendar) || s.Disabled || s.Broken != "" {
		return s
	}
	timing, err := v.timing(s)
	if err != nil {
		return s
	}
	decided := latest(s.calendarSince(v.Calendar, v.Now), newestDue(v))
	if s.Delay > 0 && v.Last != nil {
		decided = latest(decided, v.Last.EndedAt.Add(s.Delay))
	}
	if s.Delay > 0 && v.Skipped {
		decided = latest(decided, s.Due) // its delay began with the skip, of which no run tells
	}
	current := *s
	current.Cursor = timing.recount(s.Cursor, decided)
	return &current
}

// calendarSince is when the calendar of the schedule became what it is for it:
// instants before that were decided by another.
func (s *Schedule) calendarSince(calendar *Calendar, now time.Time) time.Time {
	switch {
	case calendar == nil:
		return s.UpdatedAt
	case calendar.UpdatedAt.IsZero():
		return now
	}
	return latest(calendar.UpdatedAt, s.UpdatedAt)
}

// newestDue is the newest instant of which there is a run by the clock.
func newestDue(v View) (newest time.Time) {
	runs := append(v.Active[:len(v.Active):len(v.Active)], v.Ended...)
	if v.Last != nil {
		runs = append(runs, *v.Last)
	}
	for _, run := range runs {
		if run.Trigger == TriggerCron || run.Trigger == TriggerCatchUp {
			newest = latest(newest, run.Due)
		}
	}
	return newest
}

// listed is the schedule as it is shown: with a cursor by the calendar as it is now.
// The view has no runs, so one that is due after their end is not shown sooner than
// it was.
func (s *Schedule) listed(v View) Cursor {
	timing, err := v.timing(s)
	if err != nil || s.Disabled || s.Broken != "" {
		return s.Cursor
	}
	decided := s.calendarSince(v.Calendar, v.Now)
	if s.Delay > 0 {
		decided = latest(decided, s.Due)
	}
	return timing.recount(s.Cursor, decided)
}
