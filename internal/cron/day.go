package cron

import "time"

// Clock changes can skip a midnight or a whole day, or repeat them. So days are not counted
// by their dates: a stretch of time in which clocks certainly show the same day ends with
// the day or with a clock change.

// DayEnds returns the end of the period, starting at t, during which the local date cannot
// change. The time after it may still be part of the same day.
func DayEnds(t time.Time) time.Time {
	s := stretchAt(t.Unix(), t.Location())
	_, second := split(t.Unix() + s.offset)
	return time.Unix(min(t.Unix()+int64(secondsPerDay-second), s.end), 0).In(t.Location())
}

// DayBegan returns the start of the period, ending at t, during which the local date cannot
// change. The time before it may still be part of the same day.
func DayBegan(t time.Time) time.Time {
	_, offset := t.Zone()
	_, second := split(t.Unix() + int64(offset))
	began := t.Unix() - int64(second)
	if change, _ := t.ZoneBounds(); !change.IsZero() {
		began = max(began, change.Unix())
	}
	return time.Unix(began, 0).In(t.Location())
}
