package schedule

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Calendar is days on which schedules that name it are not due: those days that
// the clocks of the schedule's zone show. A change counts from then on.
type Calendar struct {
	Name        string
	Description string
	Weekdays    []time.Weekday
	Dates       []string    // as 2026-12-25, or 12-25 of every year
	Ranges      []DateRange // first and last day included
	Version     int64       // grows with each change of any calendar; set by the store
	UpdatedAt   time.Time   // set by the store; zero: an older program stored it
}

// DateRange is days in a row.
type DateRange struct {
	From string `json:"from"` // as 2026-12-24
	To   string `json:"to"`
}

const maxCalendarDays = 5000

// NormalizeCalendar returns an *InvalidError that names every field of a calendar
// about to be stored that cannot be accepted.
func NormalizeCalendar(calendar *Calendar) error {
	var c complaints
	c.Addressed("name", calendar.Name, fairlead.MaxName)
	c.Text("description", calendar.Description)
	if len(calendar.Dates)+len(calendar.Ranges) > maxCalendarDays {
		c.Refuse("dates", "and ranges have %d entries; at most %d are allowed", len(calendar.Dates)+len(calendar.Ranges), maxCalendarDays)
	}
	for _, weekday := range calendar.Weekdays {
		if weekday < time.Sunday || weekday > time.Saturday {
			c.Refuse("weekdays", "contains %d, which is not a weekday", int(weekday))
		}
	}
	for i, date := range calendar.Dates {
		if !isDate(date) && !isDate("2024-"+date) { // a leap year has all days
			c.Refuse(fmt.Sprintf("dates[%d]", i), "is %q; give it as 2026-12-25, or as 12-25 for every year", date)
		}
	}
	for i, r := range calendar.Ranges {
		if !isDate(r.From) || !isDate(r.To) || r.To < r.From {
			c.Refuse(fmt.Sprintf("ranges[%d]", i), "is from %q to %q; give two days such as 2026-12-25, the earlier one first", r.From, r.To)
		}
	}
	return fairlead.Invalid(c.Found...)
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}
