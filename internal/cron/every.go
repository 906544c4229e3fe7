package cron

import (
	"fmt"
	"time"
)

const (
	shortestInterval = time.Second
	longestInterval  = horizonYears * 366 * 24 * time.Hour
)

// Every returns the expression for an interval. The interval must be at least one second and a
// whole number of milliseconds.
func Every(interval time.Duration) (Expr, error) {
	var problem string
	switch {
	case interval < shortestInterval:
		problem = "is too short an interval; the shortest is 1s"
	case interval > longestInterval:
		problem = fmt.Sprintf("is too long an interval; the longest is %dh, eight years", longestInterval/time.Hour)
	case interval%time.Millisecond != 0:
		problem = "is too fine an interval; use whole milliseconds"
	default:
		return Expr{every: interval}, nil
	}
	return Expr{}, &SyntaxError{Part: interval.String(), Column: 1, Problem: problem}
}

// Interval returns the expression's interval, or 0 if the expression is not an interval.
func (e Expr) Interval() time.Duration { return e.every }

// NextEvery returns the first instant after the given instant that is a whole number of
// intervals after anchor. The anchor itself is included. NextEvery returns the zero time if
// the expression is not an interval.
func (e Expr) NextEvery(anchor, after time.Time) time.Time {
	switch {
	case e.every == 0 || !counts(anchor) || after.Unix() >= endOfTime:
		return time.Time{}
	case after.Before(anchor):
		return anchor
	default:
		return e.multiple(anchor, e.intervals(anchor, after)+1)
	}
}

// PrevEvery returns the last instant before the given instant that is a whole number of
// intervals after anchor. The anchor itself is included. PrevEvery returns the zero time if no such
// instant exists or the expression is not an interval.
func (e Expr) PrevEvery(anchor, before time.Time) time.Time {
	if e.every == 0 || !counts(anchor) || !anchor.Before(before) {
		return time.Time{}
	}
	if before.Unix() >= endOfTime {
		before = time.Unix(endOfTime, 0)
	}
	n := e.intervals(anchor, before)
	last := e.multiple(anchor, n)
	if !last.Before(before) {
		last = e.multiple(anchor, n-1)
	}
	return last
}

// intervals returns the number of intervals since the anchor. It counts in milliseconds,
// because a time.Duration covers less than three centuries.
func (e Expr) intervals(anchor, now time.Time) int64 {
	elapsed := (now.Unix() - anchor.Unix()) * 1000
	fine := now.Nanosecond() - anchor.Nanosecond()
	if fine < 0 {
		elapsed, fine = elapsed-1000, fine+int(time.Second)
	}
	return (elapsed + int64(fine)/int64(time.Millisecond)) / e.every.Milliseconds()
}

// multiple returns the instant n intervals after the anchor.
func (e Expr) multiple(anchor time.Time, n int64) time.Time {
	elapsed := n * e.every.Milliseconds()
	t := time.Unix(anchor.Unix()+elapsed/1000, int64(anchor.Nanosecond())+elapsed%1000*int64(time.Millisecond))
	if !counts(t) {
		return time.Time{}
	}
	return t.In(anchor.Location())
}

// counts reports whether an instant is within the supported years.
func counts(t time.Time) bool { return t.Unix() >= zeroTime && t.Unix() < endOfTime }
