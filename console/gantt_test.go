package console

import (
	"fmt"
	"testing"
	"time"
)

// minutes returns the time that is m minutes after noon.
func minutes(m float64) time.Time { return noon.Add(time.Duration(m * float64(time.Minute))) }

// layHour lays jobs of one hour.
func layHour(jobs ...ran) *gantt { return layGantt(jobs, noon, minutes(60), "others", false) }

func TestBarsOfALaneDoNotOverlap(t *testing.T) {
	var jobs []ran
	for i := range 200 {
		start := float64(i*7%50) + 1
		jobs = append(jobs, ran{ID: int64(i + 1), Group: fmt.Sprint(i % 3), State: "succeeded", Waits: minutes(start - 1), Starts: minutes(start), Ends: minutes(start + float64(i%9))})
	}
	g := layHour(jobs...)
	drawn := 0
	for _, group := range g.Groups {
		for i, a := range group.Bars {
			drawn += a.Jobs
			if a.Y < group.Y || a.Y+laneHeight > group.Y+group.Height {
				t.Errorf("job %d is outside of its group", a.ID)
			}
			for _, b := range group.Bars[:i] {
				if a.Y == b.Y && a.Wait < b.X+b.Width && b.Wait < a.X+a.Width {
					t.Errorf("jobs %d and %d overlap: %+v %+v", a.ID, b.ID, a, b)
				}
			}
		}
	}
	if drawn != len(jobs) {
		t.Errorf("%d jobs are drawn, want %d", drawn, len(jobs))
	}
}

func TestAWaitIsToldApartFromTheRun(t *testing.T) {
	g := layHour(ran{ID: 1, State: "running", Waits: minutes(0), Starts: minutes(30), Ends: minutes(60)})
	bar := g.Groups[0].Bars[0]
	if bar.Wait != g.Left || bar.X != (g.Left+g.Right)/2 || bar.X+bar.Width != g.Right {
		t.Errorf("it waits from %.1f, and runs from %.1f to %.1f", bar.Wait, bar.X, bar.X+bar.Width)
	}
}

func TestBarsThatAreTooNarrowShareABucketPerState(t *testing.T) {
	var jobs []ran
	for i := range 30 {
		state := "succeeded"
		if i%10 == 0 {
			state = "failed"
		}
		at := minutes(10 + float64(i)/3000)
		jobs = append(jobs, ran{ID: int64(i + 1), State: state, Waits: at, Starts: at, Ends: at.Add(time.Millisecond)})
	}
	jobs = append(jobs, ran{ID: 99, State: "succeeded", Waits: minutes(0), Starts: minutes(0), Ends: minutes(0)})
	got := map[string]int{}
	for _, bar := range layHour(jobs...).Groups[0].Bars {
		got[fmt.Sprint(bar.State, " ", bar.ID)] = bar.Jobs
		if bar.Width < smallBar {
			t.Errorf("bar of %d jobs is %.2f wide", bar.Jobs, bar.Width)
		}
	}
	if got["succeeded 0"] != 27 || got["failed 0"] != 3 || got["succeeded 99"] != 1 {
		t.Errorf("buckets have %v", got)
	}
}

func TestAGroupHasABoundedNumberOfLanes(t *testing.T) {
	var jobs []ran
	for i := range 5 * mostLanes {
		jobs = append(jobs, ran{ID: int64(i + 1), State: "running", Waits: minutes(0), Starts: minutes(1), Ends: minutes(60)})
	}
	for i := range 7 { // these share a bucket, which is merged with the others
		jobs = append(jobs, ran{ID: int64(1000 + i), State: "succeeded", Waits: minutes(30), Starts: minutes(30), Ends: minutes(30)})
	}
	g := layHour(jobs...)
	bars := g.Groups[0].Bars
	last := bars[len(bars)-1]
	if len(bars) != mostLanes+1 || last.Jobs != 4*mostLanes+7 || g.Groups[0].Height != (mostLanes+1)*laneHeight {
		t.Errorf("%d bars, the last of %d jobs", len(bars), last.Jobs)
	}
}

func TestTheSmallestOfTooManyGroupsAreOne(t *testing.T) {
	var jobs []ran
	for i := range 2 * mostGroups {
		jobs = append(jobs, ran{ID: int64(i + 1), Group: fmt.Sprintf("g%03d", i), State: "running", Waits: minutes(0), Starts: minutes(1), Ends: minutes(60)})
	}
	g := layHour(jobs...)
	if last := g.Groups[len(g.Groups)-1]; !g.Shortened || len(g.Groups) != mostGroups || last.Name != "others" {
		t.Errorf("%d groups, the last of them is %q", len(g.Groups), last.Name)
	}
}

func TestIdleTimeAtTheBeginningIsFolded(t *testing.T) {
	g := layHour(ran{ID: 1, State: "succeeded", Waits: minutes(40), Starts: minutes(41), Ends: minutes(50)})
	if g.Idle < 39*time.Minute || g.Idle > 40*time.Minute || !g.From.Equal(noon.Add(g.Idle)) || g.Left != ganttLabels+foldWidth {
		t.Errorf("%v are folded, and the axis begins at %v", g.Idle, g.From)
	}
	if g := layHour(ran{ID: 1, State: "succeeded", Waits: minutes(19), Starts: minutes(41), Ends: minutes(50)}); g.Idle != 0 || !g.From.Equal(noon) {
		t.Errorf("%v are folded of a beginning that is not idle for long", g.Idle)
	}
	if g := layHour(); g.Idle != 0 || len(g.Groups) != 0 {
		t.Error("an empty chart is folded")
	}
}

func TestMarksAreAtRoundTimesOfTheZone(t *testing.T) {
	zone := time.FixedZone("half", 5*3600+1800)
	at, step := ticksOf(noon.Add(7*time.Minute), noon.Add(8*time.Hour), 8, zone)
	if step != time.Hour || len(at) != 8 || at[0].Minute() != 0 || tickText(at[0], step) != "18:00" {
		t.Errorf("marks every %v: %v", step, at)
	}
	for _, length := range []time.Duration{3 * time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, 20 * 365 * 24 * time.Hour} {
		if at, _ := ticksOf(noon, noon.Add(length), 8, time.UTC); len(at) == 0 || len(at) > 9 {
			t.Errorf("%v has %d marks", length, len(at))
		}
	}
}
