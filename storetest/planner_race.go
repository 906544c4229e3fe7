package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// oneByOne keeps one run active at a time and queues the others: as much of a real decision
// as the races need.
func oneByOne(s schedule.Schedule, view schedule.View) schedule.Plan {
	plan := schedule.Plan{Cursor: s.Cursor}
	free := !slices.ContainsFunc(view.Active, func(fire schedule.Fire) bool { return !fire.Queued })
	if waits := slices.IndexFunc(view.Active, func(fire schedule.Fire) bool { return fire.Queued }); free && waits >= 0 {
		plan.Admit, free = []int64{view.Active[waits].Job}, false
	}
	if !s.FireAt.After(view.Now) {
		fire := byClock(s.Due)
		fire.Queued = !free
		plan.Fires, plan.Cursor = []schedule.PlannedFire{fire}, at(s.Due.Add(time.Second))
	}
	return plan
}

func testPlannerRaces(c *chapter) {
	c.test("trap 21: a run that ends while the next is queued lets it start", func(f *fixture) {
		g, node := f.elsewhere(), f.join()
		s := f.plan("s")
		f.tick(oneByOne)
		for round := range f.rounds(15) {
			job := f.claimOne(node)
			f.Advance(time.Second)
			var settle, tick error
			together(
				func() { _, settle = SettleAll(f.ctx(), f.store, []fairlead.Settlement{to(fairlead.Succeed, job)}) },
				func() { _, tick = g.store.Tick(f.ctx(), enough, oneByOne) },
			)
			f.ok(settle)
			f.ok(tick)
			f.tick(oneByOne)
			f.equal(fmt.Sprint("the active runs of round ", round), len(f.view(s).Active), 1)
		}
		f.equal("the number of runs", len(f.fires(s.ID)), 1+f.rounds(15))
	})
	c.test("trap 22: the clock and catching up at once make one run of an instant", func(f *fixture) {
		s := f.plan("s")
		for range f.rounds(10) {
			var made [8]int
			f.ok(first(f.rivals(len(made), func(i int, store Store) error {
				planned := byClock(f.now())
				planned.Trigger = []schedule.Trigger{schedule.TriggerCron, schedule.TriggerCatchUp}[i/2%2]
				fires, err := store.Act(f.ctx(), s.ID, func(s schedule.Schedule, _ schedule.View) (schedule.Plan, error) {
					return schedule.Plan{Fires: []schedule.PlannedFire{planned}, Cursor: s.Cursor}, nil
				})
				made[i] = len(fires)
				return err
			})))
			total := 0
			for _, n := range made {
				total += n
			}
			f.equal("the number of runs", total, 1)
			f.Advance(time.Second)
		}
	})
	c.test("of a deletion and a tick at once no queued run is left behind", func(f *fixture) {
		g := f.elsewhere()
		for range f.rounds(10) {
			s := f.plan("s")
			f.make(s, queued(f.now()))
			var remove, tick error
			together(
				func() { remove = f.store.DeleteSchedule(f.ctx(), s.ID) },
				func() {
					_, tick = g.store.Tick(f.ctx(), enough, func(s schedule.Schedule, _ schedule.View) schedule.Plan {
						return schedule.Plan{Fires: []schedule.PlannedFire{queued(s.Due)}, Cursor: at(s.Due.Add(time.Hour))}
					})
				},
			)
			f.ok(remove)
			f.ok(tick)
			for _, fire := range f.fires(s.ID) {
				f.equal("the state of a queued run", fire.State, fairlead.Cancelled)
			}
			f.wantSeen(enough, leave)
		}
	})
	c.test("of many that tick at once each instant of each schedule leads to one run", func(f *fixture) {
		const instants, tickers = 5, 8
		schedules := f.size(25, 200, "has more schedules than a tick takes")
		start := f.now()
		for i := range schedules {
			f.plan(fmt.Sprintf("s%03d", i))
		}
		processes := f.processes(4)
		everySecond := func(s schedule.Schedule, _ schedule.View) schedule.Plan {
			return schedule.Plan{Fires: []schedule.PlannedFire{byClock(s.Due)}, Cursor: at(s.Due.Add(time.Second))}
		}
		for instant := range instants {
			errs, rivals := make([]error, tickers), make([]func(), tickers)
			for i := range rivals {
				planner := processes[i%len(processes)].store
				rivals[i] = func() {
					for ticked := (schedule.Ticked{}); ticked.Next == 0 && errs[i] == nil; {
						ticked, errs[i] = planner.Tick(f.ctx(), 10+i, everySecond)
					}
				}
			}
			together(rivals...)
			f.ok(first(errs))
			f.Advance(time.Second)
			f.equal("the number of jobs", f.tally(fairlead.Filter{})[fairlead.Ready], int64(schedules*(instant+1)))
		}
		for _, s := range f.schedules(schedule.Filter{Limit: schedules}) {
			f.equal("the cursor", s.Cursor, at(start.Add(instants*time.Second)))
			due := map[time.Time]int{}
			for _, fire := range f.fires(s.ID) {
				due[fire.Due]++
			}
			for i := range instants {
				f.equal("the runs of an instant", due[start.Add(time.Duration(i)*time.Second)], 1)
			}
			f.equal("the number of instants", len(due), instants)
		}
	})
}
