package cron

import "time"

// Expr is a cron expression or an interval, created by Parse or Every. Equal values are due
// at the same instants. The zero value is never due.
type Expr struct {
	every time.Duration // the interval; if set, the other fields are empty

	seconds, minutes, hours, months set
	days                            days
	always                          bool // whether it follows real time instead of times of day
}

// Next returns the first instant after the given instant at which the expression is due in
// zone. It returns the zero time if the expression is not due within eight years. A nil zone
// means UTC. Intervals count from the zero time; use NextEvery for a different anchor.
func (e Expr) Next(after time.Time, zone *time.Location) time.Time {
	zone = orUTC(zone)
	if e.every > 0 {
		return e.NextEvery(time.Time{}, after).In(zone)
	}
	now := max(after.Unix(), zeroTime)
	if now >= endOfTime {
		return time.Time{}
	}
	last := min(time.Unix(now, 0).UTC().Year()+horizonYears+1, lastYear)
	next := func(wall int64) (int64, bool) { return e.nextWall(wall, last) }
	if e.always {
		t, ok := nextAlways(now, zone, next)
		return answer(t, ok, zone)
	}
	t, ok := nextOnce(now, zone, next)
	return answer(t, ok, zone)
}

// Prev returns the last instant before the given instant at which the expression is due in
// zone. It returns the zero time if the expression was not due within the preceding eight
// years. It mirrors Next.
func (e Expr) Prev(before time.Time, zone *time.Location) time.Time {
	zone = orUTC(zone)
	if e.every > 0 {
		return e.PrevEvery(time.Time{}, before).In(zone)
	}
	until := min(lastSecondBefore(before), endOfTime-1)
	if until <= zeroTime {
		return time.Time{}
	}
	first := max(time.Unix(until, 0).UTC().Year()-horizonYears-1, 0)
	prev := func(wall int64) (int64, bool) { return e.prevWall(wall, first) }
	if e.always {
		t, ok := prevAlways(until, zone, prev)
		return answer(t, ok, zone)
	}
	t, ok := prevOnce(until, zone, prev)
	return answer(t, ok, zone)
}

// Between returns the first instants in [from, to) at which the expression is due in zone, at
// most limit of them.
func (e Expr) Between(from, to time.Time, zone *time.Location, limit int) []time.Time {
	return Between(e.Timer(zone, time.Time{}), from, to, limit)
}
