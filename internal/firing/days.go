package firing

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// days are the days of a calendar.
type days struct {
	weekdays [7]bool
	dates    map[string]struct{} // as 2026-12-25 or 12-25
	ranges   []fairlead.DateRange
}

// daysOf reads a calendar; nil excludes nothing.
func daysOf(calendar *fairlead.Calendar) *days {
	if calendar == nil {
		return nil
	}
	d := &days{dates: make(map[string]struct{}, len(calendar.Dates)), ranges: calendar.Ranges}
	for _, weekday := range calendar.Weekdays {
		d.weekdays[weekday%7] = true
	}
	for _, date := range calendar.Dates {
		d.dates[date] = struct{}{}
	}
	return d
}

// exclude tells whether a day, as its zone counts, is among them.
func (d *days) exclude(t time.Time) bool {
	if d == nil {
		return false
	}
	if d.weekdays[t.Weekday()] {
		return true
	}
	date := t.Format(time.DateOnly)
	if _, named := d.dates[date]; named {
		return true
	}
	if _, named := d.dates[date[5:]]; named {
		return true
	}
	for _, r := range d.ranges {
		if r.From <= date && date <= r.To {
			return true
		}
	}
	return false
}

// lastOfDays is the last moment of the excluded days that a moment is in.
func (d *days) lastOfDays(t time.Time) time.Time {
	for n := 0; n < maxExcluded && d.exclude(t); n++ {
		t = beginOfDay(t.Year(), t.Month(), t.Day()+1, t.Location())
	}
	return t.Add(-time.Microsecond)
}

// firstOfDays is the first moment of the excluded days that a moment is in.
func (d *days) firstOfDays(t time.Time) time.Time {
	first := t
	for n := 0; n < maxExcluded && d.exclude(t); n++ {
		first = beginOfDay(t.Year(), t.Month(), t.Day(), t.Location())
		t = first.Add(-time.Microsecond)
	}
	return first
}

// maxExcluded is how many days in a row are looked at: more than farthest.
const maxExcluded = 8*366 + 1

// beginOfDay is the first moment of a day, which need not be midnight.
func beginOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	begin := time.Date(year, month, day, 0, 0, 0, 0, zone)
	// Where midnight does not exist, Date may answer with a moment of the day before.
	for begin.Day() != time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Day() {
		begin = begin.Add(15 * time.Minute)
	}
	return begin
}
