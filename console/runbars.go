package console

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	runSlices     = 24 // intervals of a span; jobs are counted in each
	runSliceJobs  = 1000
	runBarsHeight = 70.0
	runBarsTop    = 14.0 // space for the largest number
)

// runBars shows the number of jobs created in each part of a period, by their current
// state. It is used if a chart has too many jobs to draw them individually.
type runBars struct {
	Most   int64 // largest number in one bar
	More   bool  // whether the numbers of the longest bars are lower bounds
	Height float64
	Bars   []runBar
}

// runBar is one part of the period.
type runBar struct {
	X, Width  float64
	From, To  time.Time
	N         int64
	More      bool // whether N is a lower bound
	Top       float64
	Href      string
	Segments  []runSegment
	TotalText string
}

// runSegment is the number of jobs in one state in a part of the period.
type runSegment struct {
	State     string
	N         int64
	Y, Height float64
}

// finishedOrRunning lists the states of jobs that have run.
var finishedOrRunning = []string{"running", "waiting", "failed", "cancelled", "succeeded"}

// runBarsOf counts the jobs in each part of a chart's period.
func (v *visit) runBarsOf(g *gantt, filter *fairleadv1.ListJobsRequest) (*runBars, error) {
	bars := &runBars{Height: runBarsTop + runBarsHeight}
	step := g.To.Sub(g.From) / runSlices
	for i := range runSlices {
		bar := runBar{From: g.From.Add(time.Duration(i) * step), To: g.From.Add(time.Duration(i+1) * step)}
		count, err := v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
			State: finishedOrRunning, Kind: filter.GetKind(), Queue: filter.GetQueue(), Tenant: filter.GetTenant(),
			From: timestamppb.New(bar.From), To: timestamppb.New(bar.To), AtMost: runSliceJobs,
		})
		if err != nil {
			return nil, err
		}
		bar.X, bar.N, bar.More = g.X(bar.From), int64(count.GetTotal()), count.GetMore()
		bar.Width = g.X(bar.To) - bar.X - 1
		for _, of := range count.GetStates() {
			if of.GetCount() > 0 {
				bar.Segments = append(bar.Segments, runSegment{State: of.GetState(), N: int64(of.GetCount())})
			}
		}
		bar.Href = v.Here("from", bar.From.Truncate(time.Millisecond), "to", bar.To.Truncate(time.Millisecond))
		bar.TotalText = v.Num(bar.N)
		if bar.More {
			bar.TotalText += "+"
		}
		bars.Most, bars.More = max(bars.Most, bar.N), bars.More || bar.More
		bars.Bars = append(bars.Bars, bar)
	}
	bars.stack()
	return bars, nil
}

// stack computes the positions of the segments, from the bottom up.
func (b *runBars) stack() {
	for i := range b.Bars {
		bar := &b.Bars[i]
		bar.Top = b.Height
		for s := range bar.Segments {
			segment := &bar.Segments[s]
			segment.Height = float64(segment.N) / float64(b.Most) * runBarsHeight
			bar.Top -= segment.Height
			segment.Y = bar.Top
		}
	}
}

// CutHeight returns how much of a bar's top is hatched: the bar continues above it.
func (b runBar) CutHeight() float64 { return min(8, b.Height()) }

// Height returns the height of a bar.
func (b runBar) Height() float64 {
	sum := 0.0
	for _, segment := range b.Segments {
		sum += segment.Height
	}
	return sum
}

// RunBarTitle describes a bar.
func (v *visit) RunBarTitle(bar runBar) string {
	title := v.clock(bar.From) + " – " + v.clock(bar.To) + "\n" + v.T("created in this time: %s", bar.TotalText)
	for _, segment := range bar.Segments {
		title += "\n" + v.StateName(segment.State) + ": " + v.Num(segment.N)
	}
	return title
}
