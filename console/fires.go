package console

import (
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

// instantBefore returns the last time before t that stores can distinguish from t.
func instantBefore(t time.Time) time.Time { return t.Add(-time.Microsecond) }

// fires calls add with the minutes in a period in which a schedule fires, and how often it
// does in each. Fires are due instants plus the schedule's part of the jitter. Minutes are
// counted from the start of the period. The same minute may be reported several times.
//
// It does not iterate over all instants, because a schedule that is due every second has
// 604,800 of them in a week: it counts the instants of an interval by division, and reuses
// the minutes of a cron expression from one hour to the next.
func (p *plan) fires(from, to time.Time, add func(minute int, n int)) {
	offset := p.timing.Offset()
	w := &fireWalk{plan: p, offset: offset, from: from, low: from.Add(-offset), high: to.Add(-offset), add: add}
	switch {
	case p.unforeseeable():
		if next := moment(p.GetNextFire()); !next.Before(from) && next.Before(to) {
			add(int(next.Sub(from)/time.Minute), 1)
		}
	case p.every > 0:
		w.interval()
	default:
		w.hours()
	}
}

// fireWalk is an iteration over the due instants of a schedule.
type fireWalk struct {
	*plan
	offset    time.Duration
	from      time.Time // start for counting minutes
	low, high time.Time // range of the instants, excluding high
	add       func(minute int, n int)
}

// count adds instants of one minute.
func (w *fireWalk) count(due time.Time, n int) {
	w.add(int(due.Add(w.offset).Sub(w.from)/time.Minute), n)
}

// interval counts the instants of an interval, day by day, because a calendar excludes
// whole days.
func (w *fireWalk) interval() {
	due := w.timing.Next(instantBefore(w.low))
	for !due.IsZero() && due.Before(w.high) {
		until := w.high
		if day := cron.DayEnds(due.In(w.zone)); w.own.Calendar != "" && day.Before(until) {
			until = day
		}
		if ends := w.own.EndsAt; !ends.IsZero() && ends.Before(until) {
			until = ends
		}
		for due.Before(until) {
			fire := due.Add(w.offset)
			end := fire.Add(time.Minute - fire.Sub(w.from)%time.Minute).Add(-w.offset) // end of its minute
			if until.Before(end) {
				end = until
			}
			n := (end.Sub(due) + w.every - 1) / w.every
			w.count(due, int(n))
			due = due.Add(n * w.every)
		}
		due = w.timing.Next(instantBefore(until))
	}
}

// hourPattern contains the instants of an hour at which a schedule is due.
type hourPattern struct {
	first   time.Duration // first instant, relative to the start of the hour
	minutes []minuteCount // minutes relative to the start of the hour, including the jitter
}

type minuteCount struct {
	minute, n int
}

// hours counts the instants of a cron expression or of times of day, hour by hour.
func (w *fireWalk) hours() {
	var known *hourPattern
	due := w.timing.Next(instantBefore(w.low))
	for !due.IsZero() && due.Before(w.high) {
		local := due.In(w.zone)
		begin := due.Add(-time.Duration(local.Minute())*time.Minute - time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond()))
		end := begin.Add(time.Hour)
		plain := w.hourly && w.plain(begin, end)
		if plain && known != nil && due.Sub(begin) == known.first {
			at := int(begin.Sub(w.from) / time.Minute)
			for _, c := range known.minutes {
				w.add(at+c.minute, c.n)
			}
			due = w.timing.Next(instantBefore(end))
			continue
		}
		seen := &hourPattern{first: due.Sub(begin)}
		for ; !due.IsZero() && due.Before(end) && due.Before(w.high); due = w.timing.Next(due) {
			w.count(due, 1)
			seen.note(int((due.Sub(begin) + w.offset) / time.Minute))
		}
		if plain {
			known = seen
		}
	}
}

func (h *hourPattern) note(minute int) {
	if last := len(h.minutes) - 1; last >= 0 && h.minutes[last].minute == minute {
		h.minutes[last].n++
		return
	}
	h.minutes = append(h.minutes, minuteCount{minute, 1})
}

// plain reports whether an hour is like any other: it is within the period and the
// schedule's lifetime, aligned to the minutes of the period, and without a clock change in
// it or at its start.
func (w *fireWalk) plain(begin, end time.Time) bool {
	_, before := begin.Add(-time.Second).In(w.zone).Zone()
	_, after := end.In(w.zone).Zone()
	inside := func(t time.Time) bool { return !t.IsZero() && t.After(begin) && t.Before(end) }
	return before == after && !begin.Before(w.low) && !begin.Before(w.from) && !end.After(w.high) && begin.Sub(w.from)%time.Minute == 0 && !inside(w.own.StartsAt) && !inside(w.own.EndsAt)
}
