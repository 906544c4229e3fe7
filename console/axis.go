package console

import "time"

// tick is a mark on an axis of time.
type tick struct {
	X, Width float64 // where it is, and how wide the picture is
	Text     string
}

// tickRoom is what half of a mark's text takes.
const tickRoom = 32.0

// Anchor is how the text stands to the mark: at the ends there is no room for half of it.
func (t tick) Anchor() string {
	switch {
	case t.X > t.Width-tickRoom:
		return "end"
	case t.X < tickRoom:
		return "start"
	}
	return "middle"
}

// tickSteps are the distances that marks may have.
var tickSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour,
}

// ticksOf are at most so many marks at round times of a zone.
func ticksOf(from, to time.Time, most int, zone *time.Location) (at []time.Time, step time.Duration) {
	for _, step = range tickSteps {
		if to.Sub(from) <= step*time.Duration(most) {
			break
		}
	}
	_, offset := from.In(zone).Zone()
	shift := time.Duration(offset) * time.Second
	for t := from.Add(shift).Truncate(step).Add(-shift); !t.After(to) && len(at) <= most; t = t.Add(step) {
		if !t.Before(from) {
			at = append(at, t.In(zone))
		}
	}
	return at, step
}

// tickText writes the time of a mark as finely as its step needs.
func tickText(at time.Time, step time.Duration) string {
	switch {
	case step < time.Second:
		return at.Format("15:04:05.000")
	case step < time.Minute:
		return at.Format("15:04:05")
	case step < 24*time.Hour && (at.Hour() != 0 || at.Minute() != 0):
		return at.Format("15:04")
	}
	return at.Format("01-02")
}
