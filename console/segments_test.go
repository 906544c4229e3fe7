package console

import (
	"math"
	"testing"
)

func widths(all []segment) (out []float64) {
	for _, one := range all {
		out = append(out, math.Round(one.W*100)/100)
	}
	return out
}

func TestSegmentsAreAsWideAsTheirShares(t *testing.T) {
	all := segments(100, segment{N: 50}, segment{N: 25}, segment{N: 0}, segment{N: 25})
	if got := widths(all); len(got) != 3 || got[0] != 50 || got[1] != 25 || got[2] != 25 {
		t.Errorf("widths are %v", got)
	}
	if all[1].X != 50 || all[2].X != 75 {
		t.Errorf("they begin at %v and %v", all[1].X, all[2].X)
	}
}

func TestATinySegmentCanBeSeenAndTheBarIsNotExceeded(t *testing.T) {
	all := segments(10_000_000_000, segment{N: 9_999_999_990}, segment{N: 1}, segment{N: 1})
	last := all[len(all)-1]
	if last.W < segmentWidth || all[1].W < segmentWidth {
		t.Errorf("widths are %v", widths(all))
	}
	if end := last.X + last.W; end > barWidth-segmentWidth+1e-9 {
		t.Errorf("eight items are to do, and the bar ends at %v", end)
	}
}

func TestAWholeSmallerThanItsPartsIsTheirSum(t *testing.T) {
	all := segments(0, segment{N: 1}, segment{N: 3})
	if got := widths(all); got[0] != 25 || got[1] != 75 {
		t.Errorf("widths are %v", got)
	}
	if len(segments(0)) != 0 || len(segments(10)) != 0 {
		t.Error("a bar without parts has segments")
	}
}
