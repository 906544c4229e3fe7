package console

// segment is a part of a bar.
type segment struct {
	Tone string // color
	Name string // label in the viewer's language
	N    int64
	X, W float64 // position and width, relative to barWidth
}

const (
	barWidth     = 100.0
	segmentWidth = 1.5 // minimum, relative to barWidth, so that segments are visible
)

// segmented is the data of the template "segments", a bar with several parts.
type segmented struct {
	Segments []segment
	Label    string
}

// segments divides a bar into parts of a whole, in order. It leaves out empty parts, and
// makes no part too narrow to be visible. The rest of the whole stays empty.
func segments(whole int64, parts ...segment) []segment {
	var all []segment
	used, sum := 0.0, int64(0)
	for _, part := range parts {
		if part.N > 0 {
			sum += part.N
			all = append(all, part)
		}
	}
	whole = max(whole, sum)
	for i := range all {
		all[i].W = max(segmentWidth, barWidth*float64(all[i].N)/float64(whole))
		used += all[i].W
	}
	// Take the width added to narrow parts from the wide ones, in proportion.
	bound := barWidth
	if sum < whole {
		bound -= segmentWidth // keep remaining work visible too
	}
	if spare := used - segmentWidth*float64(len(all)); used > bound && spare > 0 {
		shrink := max(0, (bound-segmentWidth*float64(len(all)))/spare)
		for i := range all {
			all[i].W = segmentWidth + (all[i].W-segmentWidth)*shrink
		}
	}
	x := 0.0
	for i := range all {
		all[i].X = x
		x += all[i].W
	}
	return all
}
