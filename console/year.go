package console

import (
	"slices"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// exclusion is one reason for excluding a day; exactly one part is set.
type exclusion struct {
	Weekday  string // of every week
	Yearly   string // such as 12-25
	Date     string // such as 2026-12-25
	From, To string // range of days
}

// exclusions contains the excluded days of a calendar in a form for fast lookup.
type exclusions struct {
	weekdays [7]bool
	dates    map[string]bool // such as 2026-12-25, or 12-25 for every year
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

// of returns all reasons for excluding a day, or none.
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
		if r.GetFrom() <= date && date <= r.GetTo() { // strings in this form sort by date
			why = append(why, exclusion{From: r.GetFrom(), To: r.GetTo()})
		}
	}
	return why
}

// within removes the ranges that do not overlap a year, so that they are not checked for
// each of its days.
func (e *exclusions) within(year time.Time) *exclusions {
	first, last := year.Format(time.DateOnly), year.AddDate(1, 0, -1).Format(time.DateOnly)
	some := *e
	some.ranges = slices.DeleteFunc(slices.Clone(e.ranges), func(r *fairleadv1.DateRange) bool { return r.GetTo() < first || last < r.GetFrom() })
	return &some
}

// coming returns the next days within a year that are excluded for a reason other than
// their weekday.
func (e *exclusions) coming(today time.Time, n int) (days []time.Time) {
	for i := 0; i < 366 && len(days) < n; i++ {
		day := today.AddDate(0, 0, i)
		if slices.ContainsFunc(e.of(day), func(why exclusion) bool { return why.Weekday == "" }) {
			days = append(days, day)
		}
	}
	return days
}

// Dimensions of a month.
const (
	dayWidth   = 28
	dayHeight  = 24
	monthHead  = 20 // height of the weekday row
	monthWidth = 7 * dayWidth
)

// monthPicture is a picture of a month, with weeks from Monday to Sunday.
type monthPicture struct {
	Month         time.Month
	Width, Height int
	Days          []dayPicture
}

// dayPicture is a day in the picture of a month.
type dayPicture struct {
	Date                time.Time
	Day                 int
	X, Y, Width, Height int
	TextX, TextY        int
	StrikeX, StrikeY    int // start of the strike-through of an excluded day, which is visible without colors too
	Today               bool
	Excluded            []exclusion // reasons for the exclusion; empty = not excluded
}

// yearPicture draws the months of a year.
func yearPicture(year int, today time.Time, days *exclusions) (months []monthPicture) {
	january := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	days = days.within(january)
	for month := time.January; month <= time.December; month++ {
		first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		blank := (int(first.Weekday()) + 6) % 7 // days of the previous month in the first week
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
