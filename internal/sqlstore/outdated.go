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

// CalendarRounds is the position at which a process continues to look for schedules
// computed with an older version of their calendar. The database identifies those
// schedules, so nothing is lost when a process ends. Calendars are checked in version
// order. A new version is always the largest, so the next look finds it, while calendars
// that have not changed for long usually cost nothing.
type CalendarRounds struct {
	mu    sync.Mutex
	after int64 // calendars with smaller versions have no such schedule
	rest  time.Time
}

// CalendarLook is one look at up to Window calendars with versions of at least After.
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

// Restart discards the results of a look before it is repeated.
func (l *CalendarLook) Restart() { l.IDs, l.last = nil, 0 }

// Saw records that the calendar with a version was checked, and the ID of a schedule found
// there, or 0. Calendars must be checked in version order.
func (l *CalendarLook) Saw(version, id int64) {
	l.last = version
	if id != 0 {
		l.IDs = append(l.IDs, id)
	}
}

// Also adds IDs found by another statement.
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

// End records the progress of a look and returns the IDs found. The next looks search the
// same calendars again until no such schedule is left. When no calendars are left, the
// rounds start over, because the database may have been restored to an older state.
func (r *CalendarRounds) End(l *CalendarLook) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.IDs) == 0 && l.After == r.after {
		r.after = l.last
	}
	return l.IDs
}
