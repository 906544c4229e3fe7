package schedule_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

func TestAPlanWithoutRoomForAllInstantsLeavesTheRestToTheNextOnes(t *testing.T) {
	const behind = 50 * time.Minute
	for _, mode := range []schedule.CatchUp{schedule.CatchUpNone, schedule.CatchUpCompact, schedule.CatchUpFull} {
		for _, room := range []int{1, 2, 7, 100} {
			for _, pause := range []time.Duration{time.Second, time.Minute, 5 * time.Hour} {
				t.Run(fmt.Sprint(mode, room, pause), func(t *testing.T) {
					s := minutely(func(s *schedule.Schedule) {
						s.CatchUp, s.CatchUpLimit, s.CatchUpWindow = mode, 30, 40*time.Minute
						s.Cursor = schedule.Cursor{Due: noon.Add(-behind), FireAt: noon.Add(-behind)}
					})
					grace := 5 * time.Minute
					whole, err := s.Decide(schedule.View{Now: noon}, grace)
					if err != nil {
						t.Fatal(err)
					}
					want, got := instants(whole), []int{}
					view := schedule.View{Now: noon, Room: room}
					for len(got) < len(want) {
						plan, err := s.Decide(view, grace)
						if err != nil || len(plan.Fires) == 0 || len(plan.Fires) > room {
							t.Fatalf("a plan of %d runs follows %v: %v", len(plan.Fires), got, err)
						}
						if got = append(got, instants(plan)...); len(got) < len(want) && plan.Cursor.FireAt != view.Now {
							t.Errorf("it goes on at %v instead of %v, behind those that are due", plan.Cursor.FireAt, view.Now)
						}
						s.Cursor, view.Standing = plan.Cursor, plan.Standing
						view.Now = view.Now.Add(pause)
					}
					if !slices.Equal(got[:len(want)], want) {
						t.Errorf("the plans run %v instead of %v", got, want)
					}
				})
			}
		}
	}
}
