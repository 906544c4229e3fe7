package console

import (
	"cmp"
	"slices"
	"time"
)

const (
	ganttWidth   = 1160.0
	ganttLabels  = 150.0 // part of the width for the names of groups
	ganttTop     = 22.0  // height of the axis
	laneHeight   = 12.0
	runHeight    = 6.0 // height of the bar of a run
	failedHeight = 11.0
	groupGap     = 8.0
	foldWidth    = 76.0 // width of the folded beginning
	smallBar     = 2.0  // narrower bars are merged
	bucketWidth  = 4.0
	mostLanes    = 24 // per group; bars that do not fit are merged
	mostGroups   = 40
)

// ran is the run of a job in a Gantt chart.
type ran struct {
	ID      int64
	Kind    string
	Group   string
	State   string
	Waits   time.Time // time from which the job could have run
	Starts  time.Time
	Ends    time.Time
	Ongoing bool
}

// ganttBar is a job, or several jobs that are too small to draw individually.
type ganttBar struct {
	ran
	Wait  float64 // start of the wait
	X     float64 // start of the run
	Width float64
	Y     float64
	Jobs  int // number of jobs in the bar

	from, to float64 // occupied range of its lane
}

// ganttGroup contains the lanes of jobs with a common property.
type ganttGroup struct {
	Name      string
	Y, Height float64
	Bars      []ganttBar
}

// gantt is a chart of jobs over a period.
type gantt struct {
	From, To  time.Time // range of the axis
	Left      float64   // start of the axis
	Right     float64
	Height    float64
	Idle      time.Duration // idle time at the start, which is not drawn
	Groups    []ganttGroup
	Shortened bool // whether some groups are combined because there are too many
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

// foldBeginning starts the axis at the first job if the idle time before it is more than a
// third of the period.
func (g *gantt) foldBeginning(jobs []ran) {
	first := g.To
	for _, job := range jobs {
		if job.Waits.Before(first) {
			first = job.Waits
		}
	}
	if idle := first.Sub(g.From); len(jobs) > 0 && idle > g.To.Sub(g.From)/3 {
		first = first.Add(-g.To.Sub(first) / 40) // leave some space before the first bar
		g.Idle, g.From, g.Left = first.Sub(g.From), first, g.Left+foldWidth
	}
}

// X returns the position of a time on the axis.
func (g *gantt) X(at time.Time) float64 {
	share := float64(at.Sub(g.From)) / float64(g.To.Sub(g.From))
	return g.Left + (g.Right-g.Left)*min(1, max(0, share))
}

// at returns the time at a position on the axis. It reverses X.
func (g *gantt) at(x float64) time.Time {
	return g.From.Add(time.Duration((x - g.Left) / (g.Right - g.Left) * float64(g.To.Sub(g.From))))
}

// pack assigns bars to lanes, each to the first one with room.
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
		default: // try the run without its wait
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

// merge converts jobs to bars. Bars that are too narrow to be visible are merged, one per
// state and bucket.
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

// crowded merges overlapping bars for which there is no lane.
func (g *gantt) crowded(crowd []ganttBar) (bars []ganttBar) {
	slices.SortStableFunc(crowd, func(a, b ganttBar) int { return cmp.Compare(a.X, b.X) })
	for _, bar := range crowd {
		bar.Wait = bar.X // waits would connect all of them
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

// bar returns a job to scale.
func (g *gantt) bar(job ran) ganttBar {
	bar := ganttBar{ran: job, Wait: g.X(job.Waits), X: g.X(job.Starts), Jobs: 1}
	bar.Width = g.X(job.Ends) - bar.X
	bar.from, bar.to = bar.Wait, max(bar.X+bar.Width, bar.X+smallBar)+1
	if bar.Width < smallBar {
		bar.Width = min(smallBar, g.Right-bar.X)
		if bar.X-bar.Wait < smallBar { // too small to be visible even with its wait, so merge it
			bar.Width = g.X(job.Ends) - bar.X
		}
	}
	return bar
}

// FoldX returns the position of the folded beginning.
func (g *gantt) FoldX() float64 { return g.Left - foldWidth + 2 }

// FoldWidth returns the width of the folded beginning.
func (g *gantt) FoldWidth() float64 { return foldWidth - 6 }

// FoldMiddle returns the center of the folded beginning.
func (g *gantt) FoldMiddle() float64 { return g.FoldX() + g.FoldWidth()/2 }

// FoldHeight returns the height of the folded beginning.
func (g *gantt) FoldHeight() float64 { return g.Height - ganttTop }

// Baseline returns the position of a group's name.
func (g ganttGroup) Baseline() float64 { return g.Y + laneHeight - 3 }

// Below returns the position of the line below a group.
func (g ganttGroup) Below() float64 { return g.Y + g.Height + groupGap/2 - 1 }

// WaitY returns the position of the thin bar of a wait.
func (b ganttBar) WaitY() float64 { return b.Y + 4 }

// RunHeight returns the height of the bar of a run. A failed run is twice as high as a
// successful one: people who cannot tell red from green see the difference.
func (b ganttBar) RunHeight() float64 {
	if b.State == "failed" {
		return failedHeight
	}
	return runHeight
}

// RunY returns the position of the bar of a run: in the middle of its lane.
func (b ganttBar) RunY() float64 { return b.Y + (laneHeight-1-b.RunHeight())/2 }

// WaitWidth returns the width of the thin bar of a wait.
func (b ganttBar) WaitWidth() float64 { return b.X - b.Wait }
