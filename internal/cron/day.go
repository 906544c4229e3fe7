package cron

import "time"

// Clocks that are changed can leave out a midnight or a whole day, or show them
// twice. So days are not counted by their dates: a stretch of time in which clocks
// surely show one day ends with the day or with a change of the clocks.

// DayEnds is the end of the time from an instant on in which the clocks of its zone
// surely show the day that they show then. What follows may be the same day.
func DayEnds(t time.Time) time.Time {
	s := stretchAt(t.Unix(), t.Location())
	_, second := split(t.Unix() + s.offset)
	return time.Unix(min(t.Unix()+int64(secondsPerDay-second), s.end), 0).In(t.Location())
}

// DayBegan is the beginning of the time up to an instant in which the clocks of its
// zone surely show the day that they show then. What is before may be the same day.
func DayBegan(t time.Time) time.Time {
	_, offset := t.Zone()
	_, second := split(t.Unix() + int64(offset))
	began := t.Unix() - int64(second)
	if change, _ := t.ZoneBounds(); !change.IsZero() {
		began = max(began, change.Unix())
	}
	return time.Unix(began, 0).In(t.Location())
}
