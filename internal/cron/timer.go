package cron

import "time"

// A Timer computes due instants.
type Timer interface {
	// Next returns the first instant after the given one, or the zero time if there is none.
	Next(after time.Time) time.Time
}

// Timer returns a timer that is due when the expression is due in zone. If the expression is
// an interval, it counts from anchor.
func (e Expr) Timer(zone *time.Location, anchor time.Time) Timer {
	if e.every > 0 {
		return interval{e, orUTC(zone), anchor}
	}
	return zoned[Expr]{e, zone}
}

// Timer returns a timer that is due at each of the times of day in zone.
func (d Daily) Timer(zone *time.Location) Timer { return zoned[Daily]{d, zone} }

// zoned binds a type that depends on a zone to one.
type zoned[T interface {
	Next(after time.Time, zone *time.Location) time.Time
}] struct {
	what T
	zone *time.Location
}

// Next implements Timer.
func (z zoned[T]) Next(after time.Time) time.Time { return z.what.Next(after, z.zone) }

// interval is an interval with an anchor.
type interval struct {
	expr   Expr
	zone   *time.Location // zone of the results only
	anchor time.Time
}

// Next implements Timer.
func (i interval) Next(after time.Time) time.Time {
	return i.expr.NextEvery(i.anchor, after).In(i.zone)
}

// Between returns the first due instants of timer in [from, to), at most limit of them.
func Between(timer Timer, from, to time.Time, limit int) []time.Time {
	var found []time.Time
	for t := timer.Next(from.Add(-1)); len(found) < limit && !t.IsZero() && t.Before(to); t = timer.Next(t) {
		found = append(found, t)
	}
	return found
}
