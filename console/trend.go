package console

import "time"

// trend is a bar chart of the number of events over a period.
type trend struct {
	From, To      time.Time
	Width, Height int
	Most          int // largest number in one bar
	Bars          []trendBar
}

// trendBar is one part of the period.
type trendBar struct {
	X, Y, Width, Height float64
	From                time.Time
	N                   int
}

// trendSize is the size of a chart.
type trendSize struct{ width, height, bars int }

var (
	smallTrend = trendSize{360, 28, 40}
	largeTrend = trendSize{960, 120, 60}
)

// newTrend counts times by the parts of a period. Times outside of the period do not count.
func newTrend(times []time.Time, from, to time.Time, size trendSize) trend {
	t := trend{From: from, To: to, Width: size.width, Height: size.height}
	span := to.Sub(from)
	if len(times) == 0 || span < 0 {
		return t
	}
	step := max(span/time.Duration(size.bars), 1)
	counts := make([]int, size.bars)
	for _, at := range times {
		if at.Before(from) || at.After(to) {
			continue
		}
		part := min(int(at.Sub(from)/step), size.bars-1)
		counts[part]++
		t.Most = max(t.Most, counts[part])
	}
	each := float64(size.width) / float64(size.bars)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		height := max(2, float64(n)/float64(t.Most)*float64(size.height-1))
		t.Bars = append(t.Bars, trendBar{
			X: float64(i) * each, Y: float64(size.height) - 1 - height, Width: each - 1, Height: height, From: from.Add(time.Duration(i) * step), N: n,
		})
	}
	return t
}

// Ground returns the position of the baseline.
func (t trend) Ground() int { return t.Height - 1 }
