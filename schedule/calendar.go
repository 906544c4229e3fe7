package schedule

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Calendar is a named set of excluded days. Schedules that use it are not due on these days.
// The days begin and end in the schedule's time zone. A change to a calendar applies from
// then on.
type Calendar struct {
	Name        string         // unique name
	Description string         // description for users
	Weekdays    []time.Weekday // excluded days of the week
	Dates       []string       // excluded dates, such as 2026-12-25, or 12-25 for every year
	Ranges      []DateRange    // excluded ranges of days
	Version     int64          // grows with each change of any calendar; set by the store
	UpdatedAt   time.Time      // set by the store; zero if an older program stored it
}

// DateRange is a range of days. It includes its first and last day.
type DateRange struct {
	From string `json:"from"` // first day, such as 2026-12-24
	To   string `json:"to"`   // last day
}

const maxCalendarDays = 5000

// NormalizeCalendar validates a calendar that is about to be stored. It returns an
// *InvalidError that names every invalid field.
func NormalizeCalendar(calendar *Calendar) error {
	var c complaints
	c.Addressed("name", calendar.Name, fairlead.MaxName)
	c.Text("description", calendar.Description)
	if len(calendar.Dates)+len(calendar.Ranges) > maxCalendarDays {
		c.Refuse("dates", "has %d entries, including ranges; at most %d are allowed", len(calendar.Dates)+len(calendar.Ranges), maxCalendarDays)
	}
	for _, weekday := range calendar.Weekdays {
		if weekday < time.Sunday || weekday > time.Saturday {
			c.Refuse("weekdays", "contains %d, which is not a weekday", int(weekday))
		}
	}
	for i, date := range calendar.Dates {
		if !isDate(date) && !isDate("2024-"+date) { // a leap year has all days
			c.Refuse(fmt.Sprintf("dates[%d]", i), "is %q; write it as 2026-12-25, or as 12-25 for every year", date)
		}
	}
	for i, r := range calendar.Ranges {
		if !isDate(r.From) || !isDate(r.To) || r.To < r.From {
			c.Refuse(fmt.Sprintf("ranges[%d]", i), "is an invalid range from %q to %q; use two dates such as 2026-12-25, the earlier one first", r.From, r.To)
		}
	}
	return fairlead.Invalid(c.Found...)
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
