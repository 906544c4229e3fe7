package console

import (
	"cmp"
	"slices"
	"time"
)

const (
	ganttWidth   = 1160.0
	ganttLabels  = 150.0 // of that for the names of groups
	ganttTop     = 22.0  // for the axis
	laneHeight   = 12.0
	runHeight    = 6.0 // of the bar of a run
	failedHeight = 11.0
	groupGap     = 8.0
	smallBar     = 2.0 // bars that are narrower are merged
	bucketWidth  = 4.0
	mostLanes    = 24 // of a group; what does not fit is merged
	mostGroups   = 40
)

// ran is a job that ran, as a Gantt chart shows it.
type ran struct {
	ID      int64
	Kind    string
	Group   string
	State   string
	Waits   time.Time // since when it could have run
	Starts  time.Time
	Ends    time.Time
	Ongoing bool
}

// ganttBar is a job, or some that are too small to be drawn one by one.
type ganttBar struct {
	ran
	Wait  float64 // where its wait begins
	X     float64 // where its run begins
	Width float64
	Y     float64
	Jobs  int // that it stands for

	from, to float64 // what it takes of its lane
}

// ganttGroup is the lanes of jobs that have something in common.
type ganttGroup struct {
	Name      string
	Y, Height float64
	Bars      []ganttBar
}

// gantt is a chart of jobs over a span of time.
type gantt struct {
	From, To  time.Time // what the axis spans
	Left      float64   // where the axis begins
	Right     float64
	Height    float64
	Idle      time.Duration // at the beginning, which is not drawn
	Groups    []ganttGroup
	Shortened bool // there are more groups than are drawn one by one
}

// layGantt gives every job its place. Bars of a lane do not overlap. If only some of the
// jobs are given, the axis shows the whole span: a time without bars need not be idle.
func layGantt(jobs []ran, from, to time.Time, others string, some bool) *gantt {
	g := &gantt{From: from, To: to, Left: ganttLabels, Right: ganttWidth}
	if !some {
		g.foldBeginning(jobs)
	}
	grouped := map[string][]ran{}
	for _, job := range jobs {
		grouped[job.Group] = append(grouped[job.Group], job)
	}
	names := make([]string, 0, len(grouped))
	for name := range grouped {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(grouped[b]), len(grouped[a])), cmp.Compare(a, b))
	})
	if len(names) > mostGroups {
		g.Shortened = true
		for _, name := range names[mostGroups-1:] {
			grouped[others] = append(grouped[others], grouped[name]...)
		}
		names = append(names[:mostGroups-1], others)
	} else {
		slices.Sort(names)
	}
	y := ganttTop
	for _, name := range names {
		group := ganttGroup{Name: name, Y: y}
		bars, lanes := g.pack(grouped[name])
		group.Bars = bars
		group.Height = float64(lanes) * laneHeight
		for i := range group.Bars {
			group.Bars[i].Y += y
		}
		g.Groups = append(g.Groups, group)
		y += group.Height + groupGap
	}
	g.Height = y
	return g
}

// foldBeginning lets the axis begin with the first job if nothing happens before for
// more than a third of the span.
func (g *gantt) foldBeginning(jobs []ran) {
	first := g.To
	for _, job := range jobs {
		if job.Waits.Before(first) {
			first = job.Waits
		}
	}
	if idle := first.Sub(g.From); len(jobs) > 0 && idle > g.To.Sub(g.From)/3 {
		first = first.Add(-g.To.Sub(first) / 40) // a little air before the first bar
		g.Idle, g.From, g.Left = first.Sub(g.From), first, g.Left+foldWidth
	}
}

// X is where a time is on the axis.
func (g *gantt) X(at time.Time) float64 {
	share := float64(at.Sub(g.From)) / float64(g.To.Sub(g.From))
	return g.Left + (g.Right-g.Left)*min(1, max(0, share))
}

// at is the reverse of X.
func (g *gantt) at(x float64) time.Time {
	return g.From.Add(time.Duration((x - g.Left) / (g.Right - g.Left) * float64(g.To.Sub(g.From))))
}

// pack puts bars into lanes, the first that has room for each.
func (g *gantt) pack(jobs []ran) (bars []ganttBar, lanes int) {
	rest := g.merge(jobs)
	slices.SortStableFunc(rest, func(a, b ganttBar) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.ID, b.ID), cmp.Compare(a.State, b.State))
	})
	var ends []float64
	var crowd []ganttBar
	for _, bar := range rest {
		lane := slices.IndexFunc(ends, func(end float64) bool { return end <= bar.from })
		switch {
		case lane >= 0:
			ends[lane] = bar.to
		case len(ends) < mostLanes:
			lane, ends = len(ends), append(ends, bar.to)
		default: // there may be room for its run without its wait
			if lane = slices.IndexFunc(ends, func(end float64) bool { return end <= bar.X }); lane < 0 {
				crowd = append(crowd, bar)
				continue
			}
			bar.Wait, ends[lane] = bar.X, bar.to
		}
		bar.Y = float64(lane) * laneHeight
		bars = append(bars, bar)
	}
	if len(crowd) == 0 {
		return bars, len(ends)
	}
	for _, bar := range g.crowded(crowd) {
		bar.Y = float64(len(ends)) * laneHeight
		bars = append(bars, bar)
	}
	return bars, len(ends) + 1
}

// merge makes bars of jobs. Those that are too narrow to be seen share one per state
// and bucket.
func (g *gantt) merge(jobs []ran) (bars []ganttBar) {
	type bucket struct {
		column int
		state  string
	}
	small := map[bucket][]ganttBar{}
	for _, job := range jobs {
		bar := g.bar(job)
		if bar.X+bar.Width-bar.Wait >= smallBar {
			bars = append(bars, bar)
			continue
		}
		key := bucket{int((bar.X - g.Left) / bucketWidth), job.State}
		small[key] = append(small[key], bar)
	}
	for key, some := range small {
		bar := some[0]
		if len(some) > 1 {
			bar.Jobs, bar.ID = len(some), 0
			bar.Wait = g.Left + float64(key.column)*bucketWidth
			bar.X, bar.Width = bar.Wait, bucketWidth-1
			bar.Waits, bar.Ends = g.at(bar.Wait), g.at(bar.Wait+bucketWidth)
		} else {
			bar.X = min(bar.X, g.Right-smallBar)
			bar.Wait, bar.Width = min(bar.Wait, bar.X), smallBar
		}
		bar.from, bar.to = bar.Wait, bar.X+bar.Width+1
		bars = append(bars, bar)
	}
	return bars
}

// crowded are bars for which there is no lane: those that overlap are one.
func (g *gantt) crowded(crowd []ganttBar) (bars []ganttBar) {
	slices.SortStableFunc(crowd, func(a, b ganttBar) int { return cmp.Compare(a.X, b.X) })
	for _, bar := range crowd {
		bar.Wait = bar.X // waits would join them all
		n := len(bars) - 1
		if n < 0 || bar.X > bars[n].X+bars[n].Width {
			bars = append(bars, bar)
			continue
		}
		last := &bars[n]
		last.Width = max(last.Width, bar.X+bar.Width-last.X)
		last.Jobs, last.ID, last.State = last.Jobs+bar.Jobs, 0, ""
		last.Waits, last.Ends = g.at(last.X), g.at(last.X+last.Width)
	}
	return bars
}

// bar is a job to scale.
func (g *gantt) bar(job ran) ganttBar {
	bar := ganttBar{ran: job, Wait: g.X(job.Waits), X: g.X(job.Starts), Jobs: 1}
	bar.Width = g.X(job.Ends) - bar.X
	bar.from, bar.to = bar.Wait, max(bar.X+bar.Width, bar.X+smallBar)+1
	if bar.Width < smallBar {
		bar.Width = min(smallBar, g.Right-bar.X)
		if bar.X-bar.Wait < smallBar { // no wait makes it visible either: it is merged
			bar.Width = g.X(job.Ends) - bar.X
		}
	}
	return bar
}

// FoldX is where the folded beginning is drawn.
func (g *gantt) FoldX() float64 { return g.Left - foldWidth + 2 }

// FoldWidth is how wide it is drawn.
func (g *gantt) FoldWidth() float64 { return foldWidth - 6 }

// FoldMiddle is the middle of it.
func (g *gantt) FoldMiddle() float64 { return g.FoldX() + g.FoldWidth()/2 }

// FoldHeight is how high it is drawn.
func (g *gantt) FoldHeight() float64 { return g.Height - ganttTop }

// Baseline is where the name of a group is written.
func (g ganttGroup) Baseline() float64 { return g.Y + laneHeight - 3 }

// Below is where a line ends a group.
func (g ganttGroup) Below() float64 { return g.Y + g.Height + groupGap/2 - 1 }

// WaitY is where the thin bar of a wait is drawn.
func (b ganttBar) WaitY() float64 { return b.Y + 4 }

// RunHeight returns the height of the bar of a run. A failed run is twice as high as a
// successful one: people who cannot tell red from green see the difference.
func (b ganttBar) RunHeight() float64 {
	if b.State == "failed" {
		return failedHeight
	}
	return runHeight
}

// RunY is where the bar of a run is drawn: in the middle of its lane.
func (b ganttBar) RunY() float64 { return b.Y + (laneHeight-1-b.RunHeight())/2 }

// WaitWidth is how wide it is.
func (b ganttBar) WaitWidth() float64 { return b.X - b.Wait }
