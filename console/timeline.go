package console

import "time"

const (
	timelineWidth = 1160.0
	foldMultiple  = 3    // idle for so many times as long as the job ran is folded
	foldWidth     = 76.0 // of a break, at most
	leastRun      = 5.0  // width of a run
	leastIdle     = 2.0
)

// stretch is a phase as it is drawn.
type stretch struct {
	phase
	X, Width float64
	Folded   bool // it is longer than drawn
}

// layTimeline gives every phase its place: widths are as lengths, but idle time that
// would leave no room for the runs is folded, and nothing is too small to be seen.
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
	room := max(0, width-fold*float64(folds)-least) // for what is drawn to scale
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

// Middle is where the text of a stretch is centred.
func (s stretch) Middle() float64 { return s.X + s.Width/2 }
