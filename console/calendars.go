package console

import (
	"slices"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	calendarsShown = 50
	comingShown    = 4 // number of upcoming days of a calendar in the list
)

// calendarsPage is a page of calendars.
type calendarsPage struct {
	Rows        []calendarRow
	Next, First string
}

// calendarRow is a calendar with its next days.
type calendarRow struct {
	*fairleadv1.Calendar
	Weekdays []string // translated
	Coming   []string
}

func loadCalendars(v *visit) (any, error) {
	p := v.parameters()
	after := p.page()
	if err := p.err(); err != nil {
		return nil, err
	}
	list, err := v.calendars.ListCalendars(v.ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	items := list.GetItems()
	if after != "" {
		last := slices.IndexFunc(items, func(c *fairleadv1.Calendar) bool { return c.GetName() == after })
		if last < 0 {
			return nil, refuse("page", v.T("refers to a calendar that no longer exists; omit it to get the first page"))
		}
		items = items[last+1:]
	}
	page := &calendarsPage{}
	for _, calendar := range items[:min(len(items), calendarsShown)] {
		page.Rows = append(page.Rows, v.calendarRow(calendar))
	}
	if len(items) > calendarsShown {
		page.Next = v.Here("page", items[calendarsShown-1].GetName())
	}
	if after != "" {
		page.First = v.Here()
	}
	return page, nil
}

func (v *visit) calendarRow(calendar *fairleadv1.Calendar) calendarRow {
	row := calendarRow{Calendar: calendar, Weekdays: v.weekdays(calendar)}
	for _, day := range exclusionsOf(calendar).coming(v.Now.In(v.Zone), comingShown) {
		row.Coming = append(row.Coming, day.Format(time.DateOnly))
	}
	return row
}

// weekdays returns the weekdays of a calendar in the viewer's language, Monday first.
func (v *visit) weekdays(calendar *fairleadv1.Calendar) (names []string) {
	for i := range 7 {
		day := time.Weekday((i + 1) % 7).String()
		if slices.Contains(calendar.GetWeekdays(), strings.ToLower(day)) {
			names = append(names, v.T(day))
		}
	}
	return names
}

// calendarPage shows a year of a calendar.
type calendarPage struct {
	calendarRow
	Year         int
	Before, Then string // links to other years; empty = none
	Months       []monthPicture
	Dates        []string                // dates in this year
	Ranges       []*fairleadv1.DateRange // ranges that overlap the year
}

const lastYear = 9999

func loadCalendar(v *visit) (any, error) {
	p := v.parameters()
	year := int(p.number("year"))
	if year > lastYear {
		p.refuse("year", v.T("must be a year such as 2026"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	today := v.Now.In(v.Zone)
	if year == 0 {
		year = today.Year()
	}
	calendar, err := v.calendars.GetCalendar(v.ctx, &fairleadv1.GetCalendarRequest{Name: v.Value("name")})
	if err != nil {
		return nil, err
	}
	days := exclusionsOf(calendar)
	page := &calendarPage{calendarRow: v.calendarRow(calendar), Year: year, Months: yearPicture(year, today, days)}
	if year > 1 {
		page.Before = v.Here("year", year-1)
	}
	if year < lastYear {
		page.Then = v.Here("year", year+1)
	}
	january := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	for _, date := range calendar.GetDates() {
		if len(date) == len("12-25") || strings.HasPrefix(date, january.Format("2006-")) {
			page.Dates = append(page.Dates, date)
		}
	}
	slices.Sort(page.Dates)
	page.Ranges = days.within(january).ranges
	return page, nil
}

// DayTitle returns the tooltip of a day, with the reason for its exclusion.
func (v *visit) DayTitle(day dayPicture) string {
	title := []string{day.Date.Format(time.DateOnly)}
	for _, why := range day.Excluded {
		switch {
		case why.Weekday != "":
			every := "every " + why.Weekday
			title = append(title, v.T(every))
		case why.Yearly != "":
			title = append(title, v.T("%s of every year", why.Yearly))
		case why.Date != "":
			title = append(title, v.T("this date only"))
		default:
			title = append(title, v.T("%s to %s", why.From, why.To))
		}
	}
	return strings.Join(title, "\n")
}

// MonthLabel describes the picture of a month in words.
func (v *visit) MonthLabel(month monthPicture) string {
	var days []string
	for _, day := range month.Days {
		if len(day.Excluded) > 0 {
			days = append(days, v.Num(day.Day))
		}
	}
	name := v.T(month.Month.String())
	if len(days) == 0 {
		return v.T("%s: no excluded days", name)
	}
	return v.T("%s: excluded days are %s", name, strings.Join(days, ", "))
}

// MonthName returns the name of a month.
func (v *visit) MonthName(month time.Month) string { return v.T(month.String()) }

// weekHead is the position of a weekday's name above a month.
type weekHead struct {
	Name string
	X    int
}

// WeekHeads returns the short names of the weekdays, Monday first.
func (v *visit) WeekHeads() (heads []weekHead) {
	for i, name := range []string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"} {
		heads = append(heads, weekHead{v.T(name), i*dayWidth + dayWidth/2})
	}
	return heads
}

// findCalendars finds calendars by name.
func findCalendars(v *visit, f *finding) error {
	list, err := v.calendars.ListCalendars(v.ctx, &fairleadv1.ListCalendarsRequest{})
	for _, calendar := range list.GetItems() {
		f.named(calendar.GetName(), v.T("calendar"), v.To("/calendars", calendar.GetName()))
	}
	return found(err)
}
