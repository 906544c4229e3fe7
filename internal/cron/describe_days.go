package cron

import (
	"fmt"
	"strconv"
	"time"
)

var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// describeDays describes the matching days. byMonth reports whether they are days of a
// month, and not just weekdays.
func (e *Expr) describeDays() (phrase string, byMonth bool) {
	d := &e.days
	var inMonth, weekdays []string
	if !d.anyDate {
		inMonth = d.describeDates()
	}
	if !d.anyWeekday {
		for _, n := range d.nth.members() {
			inMonth = append(inMonth, "the "+ordinals[n/daysPerWeek]+" "+weekdayName(n%daysPerWeek))
		}
		for _, n := range d.last.members() {
			inMonth = append(inMonth, "the last "+weekdayName(n))
		}
		if d.weekdays != 0 {
			weekdays = append(weekdays, d.describeWeekdays())
		}
	}

	every := e.months == span(1, 12)
	if len(inMonth) == 0 {
		if every {
			return weekdays[0], false
		}
		return weekdays[0] + " in " + describeMonths(e.months), false
	}
	phrase = enumerate(inMonth) + " of "
	if every {
		phrase += "every month"
	} else {
		phrase += describeMonths(e.months)
	}
	if len(weekdays) > 0 {
		phrase += " and on " + weekdays[0]
		if !every {
			phrase += " in these months"
		}
	}
	return phrase, true
}

func (d *days) describeDates() []string {
	var items []string
	if n := d.dates.stride(); n > 1 && d.dates.size() > mostTimes {
		items = append(items, fmt.Sprintf("every %s day from the %s to the %s",
			ordinal(n), ordinal(d.dates.first()), ordinal(d.dates.last())))
	} else if d.dates != 0 {
		items = append(items, enumerateRuns(d.dates, func(n int) string { return "the " + ordinal(n) }))
	}
	for _, n := range d.nearest.members() {
		items = append(items, "the weekday nearest the "+ordinal(n))
	}
	for _, n := range d.fromEnd.members() {
		items = append(items, describeFromEnd(n))
	}
	for _, n := range d.workEnd.members() {
		if n == 0 {
			items = append(items, "the last weekday")
		} else {
			items = append(items, "the weekday nearest "+describeFromEnd(n))
		}
	}
	return items
}

func describeFromEnd(n int) string {
	switch n {
	case 0:
		return "the last day"
	case 1:
		return "the day before the last"
	default:
		return "the day " + count(n, "day") + " before the last"
	}
}

// describeWeekdays describes weekdays. If the week ends with Sunday, it begins with Monday.
func (d *days) describeWeekdays() string {
	if d.weekdays.has(sunday) && d.weekdays.has(saturday) {
		return enumerateRuns(d.weekdays&^1|1<<daysPerWeek, weekdayName)
	}
	return enumerateRuns(d.weekdays, weekdayName)
}

func weekdayName(n int) string { return time.Weekday(n % daysPerWeek).String() }

func describeMonths(months set) string {
	return enumerateRuns(months, func(n int) string { return time.Month(n).String() })
}

func ordinal(n int) string {
	suffix := "th"
	if n/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
