package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// testCatchingUp covers schedules that missed many instants.
func testCatchingUp(c *chapter) {
	c.test("one tick starts a bounded number of runs, and the next goes on where it stopped", func(f *fixture) {
		const behind, missed, grace = 4, 400, time.Minute
		start := f.now()
		var schedules []schedule.Schedule
		for n := range behind {
			schedules = append(schedules, f.put(schedule.Schedule{
				Name: fmt.Sprint("behind", n), Every: time.Second, CreatedAt: start, CatchUp: schedule.CatchUpFull, CatchUpLimit: missed, CatchUpWindow: time.Hour,
				Overlap: schedule.OverlapAllow, AfterFailure: schedule.FailureRunNew, Concurrency: schedule.ConcurrencyParallel,
				Zone: "UTC", Job: *with(), Cursor: at(start.Add(time.Second)),
			}))
		}
		f.Advance(missed*time.Second + grace)
		punctual := f.plan("punctual")
		decide := func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan, err := s.Decide(view, grace)
			f.ok(err)
			return plan
		}
		for tick, total := 0, 0; total < behind*missed; tick++ {
			ticked := f.tickSome(enough, decide)
			if total += ticked.Runs; ticked.Runs == 0 || ticked.Runs > schedule.RunsAtOnce {
				f.Fatalf("tick %d started %d runs, and at most %d are allowed", tick, ticked.Runs, schedule.RunsAtOnce)
			}
			f.equal("the runs of the punctual schedule", len(f.fires(punctual.ID)), 1)
			f.Advance(time.Second)
		}
		for _, s := range schedules {
			var due []time.Time
			for _, fire := range f.findFires(schedule.FireFilter{Schedule: s.ID, Limit: 10 * missed}) {
				due = append(due, fire.Due)
			}
			slices.Reverse(due)
			for i := range due {
				f.equal("an instant", due[i], due[0].Add(time.Duration(i)*time.Second))
			}
		}
	})
}
