package cron

import "time"

const (
	// lookAround is larger than the difference of any two offsets of a zone, and than any
	// offset. Clocks do not repeat a time shown longer ago than this.
	lookAround = 2 * secondsPerDay

	// forever is the end of a stretch without an end.
	forever = int64(1) << 60
)

// stretch is a period without clock changes in a zone.
type stretch struct {
	from, end int64 // instants; end is exclusive
	offset    int64 // of local time
}

// stretchAt returns the rest of the stretch that contains an instant. It may end before the
// next clock change.
func stretchAt(t int64, zone *time.Location) stretch {
	at := time.Unix(t, 0).In(zone)
	_, offset := at.Zone()
	s := stretch{from: t, end: forever, offset: int64(offset)}
	if _, end := at.ZoneBounds(); !end.IsZero() {
		s.end = end.Unix()
	}
	if s.end <= t {
		// The standard library ends every year after 365 days. There is no change until midnight
		// on the additional day of a leap year.
		day, _ := split(t)
		s.end = (day + 1) * secondsPerDay
	}
	return s
}

// reached returns the latest time that clocks have shown up to an instant, and the stretch
// that contains the instant.
func reached(t int64, zone *time.Location) (wall int64, s stretch) {
	s = stretchAt(t-lookAround, zone)
	wall = t - 2*lookAround
	for s.end <= t {
		wall = max(wall, s.end-1+s.offset)
		s = stretchAt(s.end, zone)
	}
	return max(wall, t+s.offset), s
}

// instant returns when clocks first show a local time or a later one. If that is the end of
// a gap, gap contains the missing local times.
func instant(wall int64, zone *time.Location) (t int64, gap gap) {
	s := stretchAt(wall-lookAround, zone)
	if wall < s.end+s.offset {
		return wall - s.offset, gap
	}
	shown := s.end - 1 + s.offset
	for {
		s = stretchAt(s.end, zone)
		switch {
		case wall < s.from+s.offset:
			gap.from, gap.end = shown+1, s.from+s.offset
			return s.from, gap
		case wall < s.end+s.offset:
			return wall - s.offset, gap
		}
		shown = max(shown, s.end-1+s.offset)
	}
}

// gap is a range of local times that do not exist.
type gap struct {
	from, end int64 // end is exclusive
}

// swallows reports whether the whole day of a local time is missing, and the range of local
// times of that day.
func (g gap) swallows(wall int64) (first, last int64, missing bool) {
	day, _ := split(wall)
	first, last = day*secondsPerDay, (day+1)*secondsPerDay-1
	return first, last, g.from <= first && last < g.end
}
