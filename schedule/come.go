package schedule

import (
	"slices"
	"time"
)

// most is how many instants are acted upon at once. A schedule that is due each
// second and had a long grace goes on with the rest at the next look.
const most = 1000

// span is instants that were missed: from the first one on, before another moment.
type span struct {
	from, before time.Time
}

// comeBy returns which instants, from the first on, are there by now: those that are
// at most grace late, and those that were missed before. next is the first that
// is left.
func comeBy(t *Timing, first, now time.Time, grace time.Duration) (missed span, come []time.Time, next time.Time) {
	if first.IsZero() || first.After(now) {
		return span{}, nil, first
	}
	due, cutoff := first, now.Add(-grace)
	if due.Before(cutoff) {
		missed = span{from: first, before: cutoff}
		due = t.Next(cutoff.Add(-time.Microsecond))
	}
	for ; !due.IsZero() && !due.After(now) && len(come) < most; due = t.Next(due) {
		come = append(come, due)
	}
	return missed, come, due
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
