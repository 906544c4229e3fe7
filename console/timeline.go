package console

import "time"

const (
	timelineWidth  = 640.0
	timelineHeight = 20 // of a row
	workHeight     = 12 // of the bar of a run
	waitHeight     = 4
	foldMultiple   = 3    // idle times longer than this multiple of the running time are folded
	breakWidth     = 40.0 // maximum width of a break
	leastRun       = 4.0  // minimum width of a run
	leastIdle      = 2.0
)

// stretch is a phase with its position.
type stretch struct {
	phase
	X, Width float64
	Folded   bool // whether it is longer than drawn
}

// layTimeline computes the layout of phases: widths are proportional to durations, but idle
// time that would leave no room for the runs is folded, and no part is too small to be
// visible.
func layTimeline(phases []phase, width float64) []stretch {
	var ran time.Duration
	for _, p := range phases {
		if p.Run > 0 {
			ran += p.length()
		}
	}
	out := make([]stretch, len(phases))
	folds, least, drawn := 0, 0.0, time.Duration(0)
	for i, p := range phases {
		out[i] = stretch{phase: p, Folded: p.Run == 0 && ran > 0 && p.length() > foldMultiple*ran}
		switch {
		case out[i].Folded:
			folds++
		case p.Run > 0:
			least, drawn = least+leastRun, drawn+p.length()
		default:
			least, drawn = least+leastIdle, drawn+p.length()
		}
	}
	fold := 0.0
	if folds > 0 {
		fold = min(breakWidth, width/2/float64(folds))
	}
	room := max(0, width-fold*float64(folds)-least) // for parts drawn to scale
	x := 0.0
	for i := range out {
		s := &out[i]
		s.X, s.Width = x, leastIdle
		switch {
		case s.Folded:
			s.Width = fold
		case s.Run > 0:
			s.Width = leastRun
		}
		if !s.Folded && drawn > 0 {
			s.Width += room * float64(s.length()) / float64(drawn)
		}
		x += s.Width
	}
	return out
}

// place returns the position of a time on an axis.
func place(axis []stretch, at time.Time) float64 {
	x := 0.0
	for _, s := range axis {
		if at.Before(s.From) {
			return x
		}
		x = s.X + s.Width
		if at.Before(s.To) {
			return s.X + s.Width*float64(at.Sub(s.From))/float64(s.length())
		}
	}
	return x
}

// barOf returns a bar between two times, wide enough to be visible.
func barOf(axis []stretch, from, to time.Time) timelineBar {
	x := place(axis, from)
	width := max(leastRun, place(axis, to)-x)
	return timelineBar{X: max(0, min(x, timelineWidth-width)), Width: width}
}

// stamp is a time at the top of a timeline.
type stamp struct {
	X    float64
	Text string
	End  bool // whether the text is right-aligned
}

// stampRoom and exactRoom are the minimum distances between times, without and with milliseconds.
const stampRoom, exactRoom = 90.0, 140.0

// isShort reports whether an axis is so short that times need milliseconds to differ.
func isShort(axis []stretch) bool {
	return axis[len(axis)-1].To.Sub(axis[0].From) < 10*time.Second
}

// stamps returns labels for the start of each part of an axis, if there is room, and for its end.
func (v *visit) stamps(axis []stretch) (all []stamp) {
	room, format := stampRoom, v.clock
	if isShort(axis) {
		room, format = exactRoom, v.exactClock
	}
	last := -room
	for _, s := range axis {
		if s.X-last >= room && s.X < timelineWidth-2*room {
			all, last = append(all, stamp{X: s.X, Text: format(s.From)}), s.X
		}
	}
	return append(all, stamp{X: timelineWidth, Text: format(axis[len(axis)-1].To), End: true})
}

// TimelineWidth returns the width of a timeline.
func (v *visit) TimelineWidth() float64 { return timelineWidth }
