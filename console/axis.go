package console

import "time"

// tick is a mark on a time axis.
type tick struct {
	X, Width float64 // position, and width of the chart
	Text     string
}

// tickRoom is half of the width of a mark's label.
const tickRoom = 32.0

// Anchor returns the alignment of the label: at the ends of the axis there is no room to
// center it.
func (t tick) Anchor() string {
	switch {
	case t.X > t.Width-tickRoom:
		return "end"
	case t.X < tickRoom:
		return "start"
	}
	return "middle"
}

// tickSteps lists the possible distances between marks.
var tickSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second,
	15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour, 365 * 24 * time.Hour,
}

// ticksOf returns at most the given number of marks at round times of a zone.
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

// tickText formats the time of a mark with the precision that its step requires.
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
