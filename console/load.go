package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	loadSchedulesRead = 500                // number of schedules read for one chart
	mostLoads         = 32                 // maximum number of cached charts
	longestSpan       = 8 * 24 * time.Hour // longest period for which fires are listed
)

// loadPage shows when schedules will fire: a chart of a week, or a list for one period.
type loadPage struct {
	*heat
	Hot         []hotRow
	Looked      count
	Next, First string
	Unread      []string // schedules whose instants cannot be computed here

	Listed           bool
	SpanFrom, SpanTo time.Time
	Rows             []loadRow
	Fires            int64  // of all rows
	Back             string // link to the chart
}

// hotRow is a hot spot with the link to its schedules.
type hotRow struct {
	hotSpot
	ID      int
	Who     count
	Command string // command that applies its spread
}

// loadRow is a schedule that fires in a period.
type loadRow struct {
	*plan
	Timing, Words string
	Fires         int64
}

// lookedAt contains schedules and their upcoming load. It is shared by viewers.
type lookedAt struct {
	plans  []*plan
	unread []string
	next   string
	heat   *heat
}

func loadComing(v *visit) (any, error) {
	p := v.parameters()
	tenants, token, from, to := p.texts("tenant"), p.page(), moment(p.time("from")), moment(p.time("to"))
	switch {
	case from.IsZero() != to.IsZero():
		p.refuse("from", v.T("must be specified together with to"))
	case !to.IsZero() && (!from.Before(to) || to.Sub(from) > longestSpan):
		p.refuse("to", v.T("must be later than from, by at most 8 days"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	from, to = from.Truncate(time.Minute), to.Truncate(time.Minute) // the granularity in which fires are counted
	looked, err := v.looked(token, slices.Compact(slices.Sorted(slices.Values(tenants))))
	if err != nil {
		return nil, err
	}
	page := &loadPage{heat: looked.heat, Unread: looked.unread}
	page.Looked = count{N: int64(len(looked.plans) + len(looked.unread)), More: looked.next != "", Href: v.scheduleListHref(token, tenants, looked.next != "")}
	if looked.next != "" {
		page.Next = v.Here("page", looked.next, "from", "", "to", "")
	}
	if token != "" {
		page.First = v.Here("from", "", "to", "")
	}
	if !from.IsZero() {
		page.list(looked, from, to)
		page.Back = v.hereAt("from", "", "to", "")
		return page, nil
	}
	for i, spot := range looked.heat.Hot {
		row := hotRow{hotSpot: spot, ID: i + 1, Who: count{N: int64(len(spot.Plans)), Href: v.SpanHref(spot.From, spot.To)}}
		if spot.Spread != nil {
			row.Command = spot.Spread.Commands()
		}
		page.Hot = append(page.Hot, row)
	}
	return page, nil
}

// looked reads schedules and counts their fires. This is expensive for a tick, so it is
// done at longer intervals, once for all viewers with the same permissions.
func (v *visit) looked(token string, tenants []string) (*lookedAt, error) {
	at := v.Now.Truncate(figuresRest)
	request := &fairleadv1.ListSchedulesRequest{Tenant: tenants, Enabled: new(true), PageSize: loadSchedulesRead, PageToken: token}
	key := fmt.Sprintf("%q %q %q %q", v.scope, v.Zone, token, tenants)
	looked, err := v.console.loads.Get(v.ctx, at, key, func(ctx context.Context) (*lookedAt, error) { return v.lookAt(ctx, request, at) })
	if err != nil { // do not cache failures
		return v.lookAt(v.ctx, request, at)
	}
	return looked, nil
}

func (v *visit) lookAt(ctx context.Context, request *fairleadv1.ListSchedulesRequest, now time.Time) (*lookedAt, error) {
	list, err := v.schedules.ListSchedules(ctx, request)
	if err != nil {
		return nil, err
	}
	calendars, err := v.calendars.ListCalendars(ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	byName := map[string]*fairleadv1.Calendar{}
	for _, calendar := range calendars.GetItems() {
		byName[calendar.GetName()] = calendar
	}
	looked := &lookedAt{next: list.GetNextPageToken()}
	for _, s := range list.GetItems() {
		p, err := planOf(s, byName[s.GetCalendar()])
		if err != nil {
			looked.unread = append(looked.unread, s.GetName())
			continue
		}
		looked.plans = append(looked.plans, p)
	}
	from, to := weekFrom(now, v.Zone)
	looked.heat = heatOf(looked.plans, now, from, to)
	return looked, nil
}

// list selects the schedules that fire in a period.
func (page *loadPage) list(looked *lookedAt, from, to time.Time) {
	page.Listed, page.SpanFrom, page.SpanTo = true, from, to
	for _, p := range looked.plans {
		fires := int64(0)
		p.fires(from, to, func(_, n int) { fires += int64(n) })
		if fires > 0 {
			page.Rows = append(page.Rows, loadRow{plan: p, Timing: timingText(p.Schedule), Words: p.timing.Words(), Fires: fires})
			page.Fires += fires
		}
	}
}

// scheduleListHref returns the link to the schedules that were read.
func (v *visit) scheduleListHref(token string, tenants []string, more bool) string {
	parameters := []any{"enabled", "true", "page", token}
	for _, tenant := range tenants {
		parameters = append(parameters, "tenant", tenant)
	}
	if more {
		parameters = append(parameters, "at_most", loadSchedulesRead)
	}
	return v.Href("/schedules", parameters...)
}

// hereAt returns a link like Here, to the same page of a list.
func (v *visit) hereAt(parameters ...any) string {
	return v.Here(append([]any{"page", v.Query.Get("page")}, parameters...)...)
}

// SpanHref returns the link to the schedules that fire in a period, among those that were
// read.
func (v *visit) SpanHref(from, to time.Time) string { return v.hereAt("from", from, "to", to) }

// SpanText formats a period of one day in the viewer's zone.
func (v *visit) SpanText(from, to time.Time) string {
	return from.In(v.Zone).Format("2006-01-02 15:04") + "–" + to.In(v.Zone).Format("15:04")
}

// DayName returns a short weekday and its date.
func (v *visit) DayName(day time.Time) string {
	return v.T(day.Weekday().String()[:len("Mon")]) + " " + day.Format("01-02")
}

// Brief formats a number for a small space: 999, 1.2k, 34k.
func (v *visit) Brief(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 10_000:
		return strconv.FormatFloat(float64(n/100)/10, 'f', -1, 64) + "k"
	case n < 1_000_000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n/1_000_000, 10) + "M"
}

// Hours returns the hours of a day.
func (v *visit) Hours() (hours []string) {
	for i := range 24 {
		hours = append(hours, strconv.Itoa(i))
	}
	return hours
}

// TenDigits returns the last digits of minutes.
func (v *visit) TenDigits() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9} }

// MinuteRows returns the minutes of the hour in rows of ten.
func (page *loadPage) MinuteRows() (rows [][]heatCell) {
	for i := 0; i < len(page.Minutes); i += 10 {
		rows = append(rows, page.Minutes[i:i+10])
	}
	return rows
}
