package console

import (
	"strconv"
	"testing"
)

func TestASparklineEndsWithTheNewestRunAtTheRight(t *testing.T) {
	tones := []string{"bad", "good", "running"} // newest first
	line := sparkline(len(tones), func(i int) string { return tones[i] }, strconv.Itoa)
	if len(line.Bars) != 3 {
		t.Fatalf("there are %d bars, want 3", len(line.Bars))
	}
	newest := line.Bars[2]
	if newest.Title != "0" || newest.X+newest.Width != line.Width {
		t.Errorf("the last bar is %+v in a picture that is %d wide", newest, line.Width)
	}
	for _, bar := range line.Bars {
		if bar.Y+bar.Height != line.Height || bar.Height <= 0 {
			t.Errorf("bar %+v does not stand on the ground", bar)
		}
	}
}

func TestASparklineTellsFailuresBySizeToo(t *testing.T) {
	tones := []string{"bad", "good", "running", "off"}
	line := sparkline(len(tones), func(i int) string { return tones[i] }, strconv.Itoa)
	heights := map[int]bool{}
	for _, bar := range line.Bars {
		heights[bar.Height] = true
	}
	if len(heights) != len(tones) {
		t.Errorf("%d tones have %d heights", len(tones), len(heights))
	}
}

func TestASparklineHasRoomForThirtyRuns(t *testing.T) {
	line := sparkline(200, func(int) string { return "good" }, strconv.Itoa)
	if len(line.Bars) != sparkLength || line.Bars[0].X != 0 || line.Bars[0].Title != strconv.Itoa(sparkLength-1) {
		t.Errorf("there are %d bars, the first is %+v", len(line.Bars), line.Bars[0])
	}
	if empty := sparkline(0, nil, nil); len(empty.Bars) != 0 {
		t.Errorf("no runs have bars: %+v", empty)
	}
}
