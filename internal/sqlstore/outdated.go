package sqlstore

import (
	"sync"
	"time"
)

const (
	// calendarWindow is how many calendars one tick asks for schedules that were
	// computed with an older version.
	calendarWindow = 500
	// calendarRest is until all calendars are asked again: what another program
	// changed, or a transaction that took long, may be behind.
	calendarRest = time.Minute
)

// CalendarRounds is where a process goes on with looking for schedules that were
// computed with another version of their calendar. Which ones they are stands in the
// database, so nothing is lost with a process. Calendars are asked in the order of
// their versions, of which a new one is the largest: it is found at the next look,
// while calendars that have not changed for long cost nothing most of the time.
type CalendarRounds struct {
	mu    sync.Mutex
	after int64 // smaller versions have no such schedule
	rest  time.Time
}

// CalendarLook is one look: calendars whose versions are not smaller than After,
// Window of them.
type CalendarLook struct {
	After  int64
	Window int
	IDs    []int64 // schedules that were found

	last int64 // version of the last calendar that was asked
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

// Restart forgets what a look has found, which is repeated.
func (l *CalendarLook) Restart() { l.IDs, l.last = nil, 0 }

// Saw notes that the calendar of a version was asked, and an ID that it has, 0 if
// it has none. Calendars are asked in the order of their versions.
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

// End notes how far a look has come, and returns what it has found. That is looked
// for again, until there is none. Where no calendar is left the rounds begin anew:
// the database may be an older one.
func (r *CalendarRounds) End(l *CalendarLook) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(l.IDs) == 0 && l.After == r.after {
		r.after = l.last
	}
	return l.IDs
}
