package console

import (
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
)

// dates returns the dates in a field, separated by spaces, commas or line breaks.
func (p *parameters) dates(name string) []string {
	return strings.FieldsFunc(p.text(name), func(r rune) bool { return strings.ContainsRune(" ,;\t\n", r) })
}

// ranges returns the ranges in a field, one per line: first and last day.
func (p *parameters) ranges(name string) (all []*fairleadv1.DateRange) {
	for line := range strings.Lines(p.text(name)) {
		days := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return strings.Trim(word, "-–") == "" || word == "to" })
		switch len(days) {
		case 0:
		case 2:
			all = append(all, &fairleadv1.DateRange{From: days[0], To: days[1]})
		default:
			p.refuse(name, p.v.T("must contain one range per line, such as 2026-12-24 – 2027-01-01"))
		}
	}
	return all
}

// soundCalendar rejects a calendar that could not be stored: drawing a calendar takes
// memory for each of its days and ranges.
func (p *parameters) soundCalendar(calendar *fairleadv1.Calendar) {
	judged := calendarOf(calendar)
	if judged.Name == "" {
		judged.Name = "new" // the name is required only on submission
	}
	if err := schedule.NormalizeCalendar(&judged); err != nil && p.wrong == nil {
		p.wrong = connect.NewError(connect.CodeInvalidArgument, err)
	}
}

// weekdayTick is the checkbox of a weekday.
type weekdayTick struct {
	Name, Label, Value string
}

// CalendarFields returns the values of a calendar for its form.
func (v *visit) CalendarFields(calendar *fairleadv1.Calendar) map[string]any {
	var ticks []weekdayTick
	for i, day := range weekdayNames {
		tick := weekdayTick{Name: "weekday_" + day, Label: v.T(time.Weekday((i + 1) % 7).String())}
		if slices.Contains(calendar.GetWeekdays(), day) {
			tick.Value = "true"
		}
		ticks = append(ticks, tick)
	}
	var ranges []string
	for _, r := range calendar.GetRanges() {
		ranges = append(ranges, r.GetFrom()+" – "+r.GetTo())
	}
	return map[string]any{
		"name": calendar.GetName(), "description": calendar.GetDescription(), "weekdays": ticks, "dates": strings.Join(calendar.GetDates(), "\n"), "ranges": strings.Join(ranges, "\n"),
	}
}
