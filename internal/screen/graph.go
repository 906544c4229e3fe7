package screen

import "strings"

// Bar returns a progress bar of width cells that shows used as a part of whole. If whole is
// 0, there is no limit to show, and Bar returns a dotted line.
func Bar(used, whole, width int) string {
	if whole <= 0 || width <= 0 {
		return strings.Repeat("·", max(width, 0))
	}
	full := min((used*width+whole-1)/whole, width)
	return strings.Repeat("█", max(full, 0)) + strings.Repeat("░", width-max(full, 0))
}

var steps = []rune("▁▂▃▄▅▆▇█")

// Spark draws the last width values as bars, one cell per value, scaled to the largest of
// them.
func Spark(values []float64, width int) string {
	values = values[max(len(values)-max(width, 0), 0):]
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	var out strings.Builder
	for _, v := range values {
		step := 0
		if top > 0 {
			step = min(int(v/top*float64(len(steps)-1)+0.5), len(steps)-1)
		}
		out.WriteRune(steps[max(step, 0)])
	}
	return out.String()
}
