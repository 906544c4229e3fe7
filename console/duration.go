package console

import (
	"strconv"
	"time"
)

// amount is a part of a duration.
type amount struct{ number, unit string }

// amountsOf returns the one or two most significant parts of a duration: 340ms, 12s, 3m 5s,
// 2h 10m, 4d 3h.
func amountsOf(d time.Duration) []amount {
	pair := func(large int64, unit string, small int64, smaller string) []amount {
		amounts := []amount{{strconv.FormatInt(large, 10), unit}, {strconv.FormatInt(small, 10), smaller}}
		if small == 0 {
			return amounts[:1]
		}
		return amounts
	}
	switch seconds := int64(d / time.Second); {
	case d == 0:
		return []amount{{"0", "s"}}
	case d < time.Millisecond:
		return []amount{{"<1", "ms"}}
	case d < time.Second:
		return []amount{{strconv.FormatInt(d.Milliseconds(), 10), "ms"}}
	case d < 10*time.Second:
		return []amount{{strconv.FormatFloat(float64(d/(100*time.Millisecond))/10, 'f', -1, 64), "s"}}
	case seconds < 60:
		return []amount{{strconv.FormatInt(seconds, 10), "s"}}
	case seconds < 3600:
		return pair(seconds/60, "m", seconds%60, "s")
	case seconds < 24*3600:
		return pair(seconds/3600, "h", seconds%3600/60, "m")
	default:
		return pair(seconds/(24*3600), "d", seconds%(24*3600)/3600, "h")
	}
}

// shortDuration formats a duration as commands and settings accept it.
func shortDuration(d time.Duration) string {
	if d < 0 {
		return "-" + shortDuration(-d)
	}
	written := ""
	for i, part := range amountsOf(d) {
		if i > 0 {
			written += " "
		}
		written += part.number + part.unit
	}
	return written
}

// Dur formats a duration for people.
func (v *visit) Dur(value any) string {
	d := span(value)
	if d < 0 {
		return "-" + v.Dur(-d)
	}
	amounts := amountsOf(d)
	large := amounts[0].number + v.T(amounts[0].unit)
	if len(amounts) == 1 {
		return large
	}
	return v.T("%s %s", large, amounts[1].number+v.T(amounts[1].unit))
}
