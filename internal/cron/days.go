package cron

import "time"

const (
	secondsPerDay = 24 * 60 * 60
	daysPerWeek   = 7

	sunday   = 0
	saturday = 6
)

// days defines the matching days of a month. The zero value matches no day.
type days struct {
	anyDate    bool // the day of month is *
	dates      set  // 1 to 31
	fromEnd    set  // n days before the last day
	nearest    set  // weekday nearest to a date
	workEnd    set  // weekday nearest to the day n days before the last
	anyWeekday bool // the day of week is *
	weekdays   set  // 0, Sunday, to 6
	nth        set  // weekday + 7·(n-1): the n-th such weekday
	last       set  // last such weekday
}

// month contains the properties of a month on which its matching days depend.
type month struct {
	first   int64 // first day, in days since 1970
	length  int
	weekday int // weekday of the first day
}

func monthOf(year, number int) month {
	first := time.Date(year, time.Month(number), 1, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
	weekday := int((first+4)%daysPerWeek+daysPerWeek) % daysPerWeek // 1970 began on a Thursday
	return month{first: first, length: daysIn(year, number), weekday: weekday}
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// of returns the set of matching dates in a month.
func (d *days) of(m month) set {
	all := span(1, m.length)
	switch {
	case d.anyDate && d.anyWeekday:
		return all
	case d.anyDate:
		return d.byWeekday(m) & all
	case d.anyWeekday:
		return d.byDate(m) & all
	default:
		return (d.byDate(m) | d.byWeekday(m)) & all
	}
}

func (d *days) byDate(m month) set {
	dates := d.dates
	for rest := d.fromEnd.upTo(m.length - 1); rest != 0; rest &= rest - 1 {
		dates.add(m.length - rest.first())
	}
	for rest := d.nearest.upTo(m.length); rest != 0; rest &= rest - 1 {
		dates.add(m.workday(rest.first()))
	}
	for rest := d.workEnd.upTo(m.length - 1); rest != 0; rest &= rest - 1 {
		dates.add(m.workday(m.length - rest.first()))
	}
	return dates
}

func (d *days) byWeekday(m month) set {
	week := rotate(d.weekdays, m.weekday)
	var dates set
	for n := range 5 {
		dates |= (week | rotate(d.nth>>(daysPerWeek*n), m.weekday)) << (daysPerWeek*n + 1)
	}
	// The last seven days contain the last occurrence of each weekday.
	begin := m.length - daysPerWeek + 1
	return dates | rotate(d.last, (m.weekday+begin-1)%daysPerWeek)<<begin
}

// rotate converts a set of weekdays to the days of a week that begins with the given
// weekday.
func rotate(weekdays set, begin int) set {
	weekdays &= span(sunday, saturday)
	return (weekdays>>begin | weekdays<<(daysPerWeek-begin)) & span(sunday, saturday)
}

// workday returns the day from Monday to Friday that is nearest to a date, in the same
// month.
func (m month) workday(date int) int {
	switch (m.weekday + date - 1) % daysPerWeek {
	case saturday:
		if date == 1 {
			return date + 2
		}
		return date - 1
	case sunday:
		if date == m.length {
			return date - 2
		}
		return date + 1
	default:
		return date
	}
}
