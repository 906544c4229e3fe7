package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	holdPages  = 3    // number of API pages read for a chart
	holdRows   = 1000 // rows per page
	mostCauses = 30   // maximum number of causes drawn; those that lasted longest
	causeStep  = 26.0
	holdTop    = 20.0
	holdLabels = 330.0
)

// holdsPage shows what held work back over a period.
type holdsPage struct {
	Period   *period
	From, To time.Time // ends of the chart
	Since    time.Time // start of the records; zero = none
	Short    bool      // whether Since is later than the requested start
	Causes   []heldBack
	Codes    []string // occurring codes, in the order of the first row with each
	More     bool     // whether some holds are not drawn
	Cut      bool     // whether some causes are not drawn
	Ticks    []tick
}

// heldBack is one cause with its periods.
type heldBack struct {
	Code, Name string
	Total      time.Duration
	Ongoing    bool
	Y          float64
	Bars       []heldBar
}

// heldBar is a period of a cause.
type heldBar struct {
	X, Width float64
	From, To time.Time
}

// Middle returns the position of a cause's name.
func (h heldBack) Middle() float64 { return h.Y + 13 }

// Width returns the width of the chart.
func (p *holdsPage) Width() float64 { return ganttWidth }

// Height returns the height of the chart.
func (p *holdsPage) Height() float64 { return holdTop + causeStep*float64(len(p.Causes)) }

func loadHolds(v *visit) (any, error) {
	p := v.parameters()
	period := p.period("24h")
	ask := &fairleadv1.ListHoldsRequest{Queue: p.text("queue"), Tenant: p.text("tenant"), Kind: p.text("kind"), PageSize: holdRows}
	if err := p.err(); err != nil {
		return nil, err
	}
	page := &holdsPage{Period: period, From: period.From, To: period.To}
	ask.From, ask.To = timestamppb.New(page.From.Truncate(time.Minute)), period.ends()
	var holds []*fairleadv1.Hold
	for range holdPages {
		found, err := v.holds.ListHolds(v.ctx, ask)
		if err != nil {
			return nil, err
		}
		holds, page.Since = append(holds, found.GetItems()...), moment(found.GetSince())
		ask.PageToken = found.GetNextPageToken()
		if page.More = ask.GetPageToken() != ""; !page.More {
			break
		}
	}
	if page.Since.After(page.From) { // nothing is recorded before that time
		page.From, page.Short = page.Since, true
		page.To = page.From.Add(max(page.To.Sub(page.From), leastSpan))
	}
	page.draw(v, holds)
	return page, nil
}

// draw creates a row for each cause, those that lasted longest first.
func (p *holdsPage) draw(v *visit, holds []*fairleadv1.Hold) {
	places := map[string]int{}
	for _, hold := range holds {
		from, to := moment(hold.GetFrom()), moment(hold.GetUntil())
		ongoing := to.IsZero()
		if ongoing || to.After(p.To) {
			to = p.To
		}
		if from.Before(p.From) {
			from = p.From
		}
		if !to.After(from) {
			continue
		}
		name := v.holdName(hold)
		place, known := places[hold.GetCode()+" "+name]
		if !known {
			place = len(p.Causes)
			places[hold.GetCode()+" "+name] = place
			p.Causes = append(p.Causes, heldBack{Code: hold.GetCode(), Name: name})
		}
		row := &p.Causes[place]
		row.Total, row.Ongoing = row.Total+to.Sub(from), row.Ongoing || ongoing
		row.Bars = append(row.Bars, heldBar{X: p.x(from), Width: max(1.5, p.x(to)-p.x(from)), From: from, To: to})
	}
	slices.SortStableFunc(p.Causes, func(a, b heldBack) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	if len(p.Causes) > mostCauses {
		p.Causes, p.Cut = p.Causes[:mostCauses], true
	}
	for i := range p.Causes {
		p.Causes[i].Y = holdTop + causeStep*float64(i)
		if !slices.Contains(p.Codes, p.Causes[i].Code) {
			p.Codes = append(p.Codes, p.Causes[i].Code)
		}
	}
	marks, step := ticksOf(p.From, p.To, ganttTicks, v.Zone)
	for _, at := range marks {
		p.Ticks = append(p.Ticks, tick{X: p.x(at), Width: ganttWidth, Text: tickText(at, step)})
	}
}

// x returns the position of a time on the axis.
func (p *holdsPage) x(at time.Time) float64 {
	return holdLabels + (ganttWidth-holdLabels)*float64(at.Sub(p.From))/float64(max(p.To.Sub(p.From), 1))
}

// holdName names the jobs that were held back.
func (v *visit) holdName(h *fairleadv1.Hold) string {
	var parts []string
	for _, part := range []struct{ what, name string }{
		{v.T("queue"), h.GetQueue()}, {v.T("kind"), h.GetKind()}, {v.T("tenant"), h.GetTenant()}, {v.T("key"), h.GetGate()},
	} {
		if part.name != "" {
			parts = append(parts, part.what+" "+part.name)
		}
	}
	if h.GetScope() == "tenant" && h.GetTenant() == "" { // the name is hidden from the viewer
		return v.T("the parent tenant")
	}
	if len(parts) == 0 {
		return v.T("all jobs")
	}
	return strings.Join(parts, ", ")
}

// HeldTitle describes when and for how long a cause held work back.
func (v *visit) HeldTitle(h heldBack, b heldBar) string {
	return v.StateName(h.Code) + ": " + h.Name + "\n" + v.clock(b.From) + " – " + v.clock(b.To) + " (" + v.Dur(b.To.Sub(b.From)) + ")"
}

// BarY returns the vertical position of a cause's bars.
func (h heldBack) BarY() float64 { return h.Y + 3 }

// Times returns how often a cause held work back.
func (h heldBack) Times() int { return len(h.Bars) }
