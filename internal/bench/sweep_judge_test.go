package bench

import "testing"

// evenly returns ticks with the given number of items each.
func evenly(seconds int, each int64) []int64 {
	ticks := make([]int64, seconds*int(ticksPerSecond))
	for i := range ticks {
		ticks[i] = each
	}
	return ticks
}

func TestRatesAreJudged(t *testing.T) {
	even := evenly(3, 10)
	if f := judge(1000, even); f.Rate != 1000 || f.ErrorPercent != 0 || f.LargestTenth != 1 || f.LowestSecond != 1 || f.HighestSecond != 1 || f.Seconds != 3 {
		t.Errorf("evenly it is %+v", f)
	}
	even[55] += 60 // in no tenth of its own, if these were cut at whole ones
	even[250] = 0
	if f := judge(1000, even); f.ErrorPercent != 1.667 || f.LargestTenth != 1.6 || f.HighestSecond != 1.06 || f.LowestSecond != 0.99 {
		t.Errorf("unevenly it is %+v", f)
	}
	if f := judge(1000, nil); f.Rate != 0 {
		t.Errorf("of nothing it is %+v", f)
	}
}

func TestTheFirstFairSecondIsFound(t *testing.T) {
	ticks := append(append(evenly(2, 10), evenly(1, 0)...), evenly(2, 10)...)
	if at, found := firstFairSecond(1000, ticks[150:]); !found || at != 149 {
		t.Errorf("it is found at %d: %v", at, found) // a hundredth may be missing
	}
	if _, found := firstFairSecond(1000, ticks[150:380]); found {
		t.Error("it is found though there is none")
	}
	one := evenly(1, 0)
	for i := 5; i < 95; i += 10 {
		one[i] = 1
	}
	if at, found := firstFairSecond(10, one); !found || at != 0 {
		t.Errorf("with nine of ten it is found at %d: %v", at, found)
	}
}
