package schedule

import (
	"slices"
	"time"
)

// most is how many instants are acted upon at once. A schedule that is due each
// second and had a long grace goes on with the rest at the next look.
const most = 1000

// span is a range of missed instants: from the first one on, before another moment.
type span struct {
	from, before time.Time
}

// arrivals are the instants that have come since the last decision about a schedule.
type arrivals struct {
	missed span        // missed instants, caught up or not
	late   []time.Time // late instants to run
	come   []time.Time // instants that are on time
	next   time.Time   // first instant after all of these; zero if there is none
	chosen time.Time   // end of the instants for which this plan has no room and which a later plan runs; zero if none are left
}

// arrivals returns the instants that have come by now. Instants that are up to grace late are
// on time.
func (s *Schedule) arrivals(t *Timing, v View, grace time.Duration) arrivals {
	now := v.Now.Add(-t.Offset())
	first := s.Due
	if s.waits() {
		first = t.Next(s.FireAt)
	}
	var has arrivals
	if s.goesOn(t, v) {
		has = goOn(t, first, v.Standing.Chosen, now.Add(-grace))
		if first = has.next; !first.IsZero() && !first.After(has.chosen) {
			return has
		}
		has.chosen = time.Time{}
	}
	return s.come(t, has, first, v.Now, grace)
}

// come adds the instants that no plan has chosen yet, from the first on.
func (s *Schedule) come(t *Timing, has arrivals, first, moment time.Time, grace time.Duration) arrivals {
	now := moment.Add(-t.Offset())
	has.next = first
	if first.IsZero() || first.After(now) {
		return has
	}
	if cutoff := now.Add(-grace); first.Before(cutoff) {
		has.missed = span{from: first, before: cutoff}
		has.next = t.Next(cutoff.Add(-time.Microsecond))
	}
	var come []time.Time
	come, has.next = instantsUpTo(t, has.next, now)
	has.late, has.come = append(has.late, caughtUp(s, t, has.missed, moment)...), append(has.come, come...)
	if !has.next.IsZero() && !has.next.After(now) {
		has.chosen = now // these instants stay on time, even if later plans act on them late
	}
	return has
}

// goesOn reports whether the last plan had no room for all instants that were to be run. It has
// moved FireAt to its own time then. If the schedule was restarted since, it has not.
func (s *Schedule) goesOn(t *Timing, v View) bool {
	return !s.Due.IsZero() && !s.Due.After(v.Standing.Chosen) && s.FireAt.After(s.Due.Add(t.Offset()))
}

// goOn returns the instants that an earlier plan has chosen: none of them is dropped because it
// has become older since.
func goOn(t *Timing, first, chosen, cutoff time.Time) arrivals {
	all, next := instantsUpTo(t, first, chosen)
	late := slices.IndexFunc(all, func(due time.Time) bool { return !due.Before(cutoff) })
	if late < 0 {
		late = len(all)
	}
	return arrivals{late: all[:late:late], come: all[late:], next: next, chosen: chosen}
}

// instantsUpTo returns the instants from the first on up to a moment, at most so many, and the one
// behind them.
func instantsUpTo(t *Timing, first, moment time.Time) (instants []time.Time, next time.Time) {
	for next = first; !next.IsZero() && !next.After(moment) && len(instants) < most; next = t.Next(next) {
		instants = append(instants, next)
	}
	return instants, next
}

// cut leaves the instants to a later plan for which this one has no room.
func (a *arrivals) cut(room int) {
	if room <= 0 || len(a.late)+len(a.come) <= room {
		return
	}
	all := slices.Concat(a.late, a.come)
	late := min(room, len(a.late))
	a.late, a.come, a.next, a.chosen = all[:late], all[late:room], all[room], latest(a.chosen, all[len(all)-1])
}

// caughtUp are those of the missed instants that are to be run.
func caughtUp(s *Schedule, t *Timing, missed span, now time.Time) []time.Time {
	if missed.before.IsZero() {
		return nil
	}
	limit := s.CatchUpLimit
	switch s.CatchUp {
	case CatchUpFull:
	case CatchUpCompact:
		limit = 1
	default:
		return nil
	}
	oldest := now.Add(-s.CatchUpWindow)
	if missed.from.After(oldest) {
		oldest = missed.from
	}
	var instants []time.Time
	for due := last(s, t, missed); !due.IsZero() && !due.Before(oldest) && len(instants) < limit; due = t.Prev(due) {
		instants = append(instants, due)
	}
	slices.Reverse(instants)
	return instants
}

// last is the last of the missed instants. One that stands alone is known to the
// cursor only.
func last(s *Schedule, t *Timing, missed span) time.Time {
	if !s.At.IsZero() {
		return missed.from
	}
	return t.Prev(missed.before)
}
