package sqlstore

import (
	"sync"
	"time"
)

const (
	// calendarWindow is the number of calendars that one tick checks for schedules computed
	// with an older version.
	calendarWindow = 500
	// calendarRest is the interval after which all calendars are checked again: a change by
	// another program or in a long transaction may have a smaller version.
	calendarRest = time.Minute
)

// CalendarRounds records how far a process has progressed in its search for schedules that
// were computed with an older version of their calendar. These schedules can be found in the
// database at any time, so nothing is lost when a process ends. The search checks calendars in
// version order. A new version is always the largest, so the next look finds it. Calendars
// that have not changed for a long time usually cost nothing.
type CalendarRounds struct {
	mu    sync.Mutex
	after int64 // calendars with smaller versions have no such schedule
	rest  time.Time
}

// CalendarLook is one step of the search. It covers up to Window calendars whose versions are
// at least After.
type CalendarLook struct {
	After  int64
	Window int
	IDs    []int64 // schedules found

	last int64 // version of the last calendar checked
}

// Begin starts the next look.
func (r *CalendarRounds) Begin() *CalendarLook {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.After(r.rest) {
		r.after, r.rest = 0, now.Add(calendarRest)
	}
	return &CalendarLook{After: r.after, Window: calendarWindow}
}

// Restart discards the look's results so that the look can be repeated.
func (l *CalendarLook) Restart() { l.IDs, l.last = nil, 0 }

// Saw records that the calendar with the given version was checked. id is a schedule found for
// this calendar, or 0 if none was found. Calendars must be checked in version order.
func (l *CalendarLook) Saw(version, id int64) {
	l.last = version
	if id != 0 {
		l.IDs = append(l.IDs, id)
	}
}

// Also adds schedule IDs that a separate statement has found. It skips IDs that the look
// already contains.
func (l *CalendarLook) Also(ids []int64) {
	known := make(map[int64]bool, len(l.IDs))
	for _, id := range l.IDs {
		known[id] = true
	}
	for _, id := range ids {
		if !known[id] {
			l.IDs = append(l.IDs, id)
		}
	}
}

// End records the look's progress and returns the schedule IDs that it found. While a look
// finds schedules, the next looks search the same calendars again. After the last calendar,
// the search starts over, because the database may have been restored to an older state.
func (r *CalendarRounds) End(l *CalendarLook) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.IDs) == 0 && l.After == r.after {
		r.after = l.last
	}
	return l.IDs
}
