package sqlstore

import (
	"sync"
	"time"
)

const (
	// calendarWindow is how many calendars one tick checks for schedules that were
	// computed with an older version.
	calendarWindow = 500
	// calendarRest is how long until all calendars are checked again: a change by
	// another program, or in a transaction that took long, may have a smaller version.
	calendarRest = time.Minute
)

// CalendarRounds is where a process continues to look for schedules that were computed
// with another version of their calendar. The database records which they are, so
// nothing is lost with a process. Calendars are checked in the order of their versions.
// A new version is the largest, so the next look finds it, while calendars that have
// not changed for long cost nothing most of the time.
type CalendarRounds struct {
	mu    sync.Mutex
	after int64 // calendars with smaller versions have no such schedule
	rest  time.Time
}

// CalendarLook is one look: at up to Window calendars whose versions are at least
// After.
type CalendarLook struct {
	After  int64
	Window int
	IDs    []int64 // schedules that were found

	last int64 // version of the last calendar that was checked
}

// Begin begins the next look.
func (r *CalendarRounds) Begin() *CalendarLook {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.After(r.rest) {
		r.after, r.rest = 0, now.Add(calendarRest)
	}
	return &CalendarLook{After: r.after, Window: calendarWindow}
}

// Restart drops what a look has found, before it is repeated.
func (l *CalendarLook) Restart() { l.IDs, l.last = nil, 0 }

// Saw records that the calendar of a version was checked, and the ID of a schedule
// found there, 0 if there is none. Calendars are checked in the order of their
// versions.
func (l *CalendarLook) Saw(version, id int64) {
	l.last = version
	if id != 0 {
		l.IDs = append(l.IDs, id)
	}
}

// Also adds IDs that were found by another statement.
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

// End records how far a look has come, and returns what it has found. The next looks
// search there again, until nothing is left. Where no calendar is left the rounds start
// over: the database may be an older one.
func (r *CalendarRounds) End(l *CalendarLook) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.IDs) == 0 && l.After == r.after {
		r.after = l.last
	}
	return l.IDs
}
