package console

import (
	"slices"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// exclusion is why a day is left out: by one of these.
type exclusion struct {
	Weekday  string // of every week
	Yearly   string // as 12-25
	Date     string // as 2026-12-25
	From, To string // days in a row
}

// exclusions are the days of a calendar, to be looked up.
type exclusions struct {
	weekdays [7]bool
	dates    map[string]bool // as 2026-12-25, or 12-25 of every year
	ranges   []*fairleadv1.DateRange
}

func exclusionsOf(calendar *fairleadv1.Calendar) *exclusions {
	e := &exclusions{dates: map[string]bool{}, ranges: calendar.GetRanges()}
	for day := time.Sunday; day <= time.Saturday; day++ {
		e.weekdays[day] = slices.Contains(calendar.GetWeekdays(), strings.ToLower(day.String()))
	}
	for _, date := range calendar.GetDates() {
		e.dates[date] = true
	}
	return e
}

// of returns all reasons why a day is left out; none: it is not.
func (e *exclusions) of(day time.Time) (why []exclusion) {
	if e.weekdays[day.Weekday()] {
		why = append(why, exclusion{Weekday: day.Weekday().String()})
	}
	if yearly := day.Format("01-02"); e.dates[yearly] {
		why = append(why, exclusion{Yearly: yearly})
	}
	date := day.Format(time.DateOnly)
	if e.dates[date] {
		why = append(why, exclusion{Date: date})
	}
	for _, r := range e.ranges {
		if r.GetFrom() <= date && date <= r.GetTo() { // dates of this form are in the order of their texts
			why = append(why, exclusion{From: r.GetFrom(), To: r.GetTo()})
		}
	}
	return why
}

// within keeps only the ranges that touch a year: the others need not be looked at for
// each of its days.
func (e *exclusions) within(year time.Time) *exclusions {
	first, last := year.Format(time.DateOnly), year.AddDate(1, 0, -1).Format(time.DateOnly)
	some := *e
	some.ranges = slices.DeleteFunc(slices.Clone(e.ranges), func(r *fairleadv1.DateRange) bool { return r.GetTo() < first || last < r.GetFrom() })
	return &some
}

// coming are the next days that are left out for another reason than their weekday,
// within a year.
func (e *exclusions) coming(today time.Time, n int) (days []time.Time) {
	for i := 0; i < 366 && len(days) < n; i++ {
		day := today.AddDate(0, 0, i)
		if slices.ContainsFunc(e.of(day), func(why exclusion) bool { return why.Weekday == "" }) {
			days = append(days, day)
		}
	}
	return days
}

// The measures of a month.
const (
	dayWidth   = 28
	dayHeight  = 24
	monthHead  = 20 // where the weekdays are
	monthWidth = 7 * dayWidth
)

// monthPicture is a month as a picture, from Monday to Sunday.
type monthPicture struct {
	Month         time.Month
	Width, Height int
	Days          []dayPicture
}

// dayPicture is a day of a month, and where it stands.
type dayPicture struct {
	Date                time.Time
	Day                 int
	X, Y, Width, Height int
	TextX, TextY        int
	StrikeX, StrikeY    int // where the mark of an excluded day begins: it shows without colours too
	Today               bool
	Excluded            []exclusion // why; none: it is not
}

// yearPicture draws the months of a year.
func yearPicture(year int, today time.Time, days *exclusions) (months []monthPicture) {
	january := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	days = days.within(january)
	for month := time.January; month <= time.December; month++ {
		first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		blank := (int(first.Weekday()) + 6) % 7 // days of the first week that are of the month before
		picture := monthPicture{Month: month, Width: monthWidth, Height: monthHead + 6*dayHeight}
		for day := first; day.Month() == month; day = day.AddDate(0, 0, 1) {
			place := blank + day.Day() - 1
			x, y := place%7*dayWidth, monthHead+place/7*dayHeight
			picture.Days = append(picture.Days, dayPicture{
				Date: day, Day: day.Day(), X: x + 1, Y: y + 1, Width: dayWidth - 2, Height: dayHeight - 2, TextX: x + dayWidth/2, TextY: y + 16, StrikeX: x + 3, StrikeY: y + dayHeight - 3,
				Today: day.Format(time.DateOnly) == today.Format(time.DateOnly), Excluded: days.of(day),
			})
		}
		months = append(months, picture)
	}
	return months
}
