package console

import "time"

const (
	timelineWidth = 1160.0
	foldMultiple  = 3    // idle times longer than this multiple of the running time are folded
	foldWidth     = 76.0 // maximum width of a break
	leastRun      = 5.0  // minimum width of a run
	leastIdle     = 2.0
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
		fold = min(foldWidth, width/2/float64(folds))
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

// Middle returns the center of a stretch's label.
func (s stretch) Middle() float64 { return s.X + s.Width/2 }
