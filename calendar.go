package fairlead

import (
	"fmt"
	"time"
)

// Calendar is days on which schedules that name it are not due, each day in the
// zone of the schedule.
type Calendar struct {
	Name        string
	Description string
	Weekdays    []time.Weekday
	Dates       []string    // as 2026-12-25, or 12-25 of every year
	Ranges      []DateRange // first and last day included
	Version     int64       // grows with each change; set by the store
}

// DateRange is days in a row.
type DateRange struct {
	From string `json:"from"` // as 2026-12-24
	To   string `json:"to"`
}

// days are the days of a calendar.
type days struct {
	weekdays [7]bool
	dates    map[string]struct{} // as 2026-12-25 or 12-25
	ranges   []DateRange
}

// daysOf reads a calendar; nil excludes nothing.
func daysOf(calendar *Calendar) *days {
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

const maxCalendarDays = 5000

// NormalizeCalendar returns an *InvalidError that names every field of a calendar
// about to be stored that cannot be accepted.
func NormalizeCalendar(calendar *Calendar) error {
	var c complaints
	c.checkName("name", calendar.Name, MaxName)
	checkText(c.refuse, "description", calendar.Description)
	if len(calendar.Dates)+len(calendar.Ranges) > maxCalendarDays {
		c.refuse("dates", "and ranges are %d; at most %d are kept", len(calendar.Dates)+len(calendar.Ranges), maxCalendarDays)
	}
	for _, weekday := range calendar.Weekdays {
		if weekday < time.Sunday || weekday > time.Saturday {
			c.refuse("weekdays", "has %d, which is none", int(weekday))
		}
	}
	for i, date := range calendar.Dates {
		if !isDate(date) && !isDate("2024-"+date) { // a leap year has all days
			c.refuse(fmt.Sprintf("dates[%d]", i), "is %q; give it as 2026-12-25, or as 12-25 for every year", date)
		}
	}
	for i, r := range calendar.Ranges {
		if !isDate(r.From) || !isDate(r.To) || r.To < r.From {
			c.refuse(fmt.Sprintf("ranges[%d]", i), "is from %q to %q; give two days as 2026-12-25, the first one first", r.From, r.To)
		}
	}
	return c.err()
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
