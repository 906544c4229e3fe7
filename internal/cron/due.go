package cron

import "time"

const (
	horizonYears      = 8
	lastYear          = 9999
	secondsPerHorizon = (horizonYears + 1) * 366 * secondsPerDay
)

var (
	// zeroTime is the Unix time of the zero time, which stands for none.
	zeroTime = time.Time{}.Unix()
	// endOfTime is the end of the last year.
	endOfTime = time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// search finds the nearest matching local time, starting with the given one.
type search func(wall int64) (int64, bool)

// nextOnce returns the first instant after the given one at which a matching local time is
// due. Each local time is due once.
func nextOnce(after int64, zone *time.Location, next search) (int64, bool) {
	wall, s := reached(after, zone)
	for {
		found, ok := next(wall + 1)
		if !ok {
			return 0, false
		}
		if t := found - s.offset; t < s.end {
			return t, true // there is no clock change before
		}
		t, gap := instant(found, zone)
		_, last, missing := gap.swallows(found)
		if !missing {
			return t, true
		}
		wall = last
	}
}

// prevOnce returns the last instant up to the given one at which a matching local time is
// due. Each local time is due once.
func prevOnce(until int64, zone *time.Location, prev search) (int64, bool) {
	wall, _ := reached(until, zone)
	for {
		found, ok := prev(wall)
		if !ok {
			return 0, false
		}
		t, gap := instant(found, zone)
		first, _, missing := gap.swallows(found)
		if !missing {
			return t, true
		}
		wall = first - 1
	}
}

// nextAlways returns the first instant after the given one with a matching local time.
func nextAlways(after int64, zone *time.Location, next search) (int64, bool) {
	for t := after + 1; t <= after+secondsPerHorizon; {
		s := stretchAt(t, zone)
		if found, ok := next(t + s.offset); ok && found < s.end+s.offset {
			return found - s.offset, true
		}
		t = s.end
	}
	return 0, false
}

// prevAlways returns the last instant up to the given one with a matching local time.
func prevAlways(until int64, zone *time.Location, prev search) (int64, bool) {
	// A stretch contains only its end. So read some days, then years, from their start, and
	// use the last match.
	width := int64(lookAround)
	for high := until; high >= until-secondsPerHorizon; {
		low := high - width
		found, ok := int64(0), false
		for t := low; t <= high; {
			s := stretchAt(t, zone)
			stop := min(s.end-1, high)
			if wall, matches := prev(stop + s.offset); matches && wall-s.offset >= t {
				found, ok = wall-s.offset, true
			}
			t = s.end
		}
		if ok {
			return found, true
		}
		high, width = low-1, 366*secondsPerDay
	}
	return 0, false
}

// answer converts the result of a search for callers. Instants outside of the supported
// years count as not found.
func answer(t int64, found bool, zone *time.Location) time.Time {
	if !found || t <= zeroTime || t >= endOfTime {
		return time.Time{}
	}
	return time.Unix(t, 0).In(zone)
}

// lastSecondBefore returns the last whole second before an instant.
func lastSecondBefore(t time.Time) int64 {
	switch second := t.Unix(); {
	case second <= zeroTime:
		return zeroTime
	case t.Nanosecond() == 0:
		return second - 1
	default:
		return second
	}
}

func orUTC(zone *time.Location) *time.Location {
	if zone == nil {
		return time.UTC
	}
	return zone
}
