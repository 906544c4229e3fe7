package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

func testPlans(c *chapter) {
	c.test("a run is a job as the schedule says", func(f *fixture) {
		s := f.plan("s", making(ofKind("report"), inQueue("slow"), forTenant("acme"), priority(3), behind("gate"), cancelOnCrash, func(j *fairlead.Job) {
			j.Args, j.Timeout, j.MaxAttempts, j.Retry = json.RawMessage(`{"a": 1}`), time.Minute, 4, fairlead.Fixed(time.Second)
			j.Trace, j.Key = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "one"
		}))
		f.tick(runIt)
		fire := f.fires(s.ID)[0]
		job := f.wantState(jobOf(fire), fairlead.Ready)
		want := s.Job
		want.ID, want.CreatedAt, want.State, want.Fired = fire.Job, f.now(), fairlead.Ready, true
		want.StartBy, want.NotBefore, job.StartBy, job.NotBefore = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		f.equal("the job", *job, want)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything("report"), Max: 10})
		f.equal("what was claimed", ids(claimed), []int64{fire.Job})
		f.equal("its args", string(claimed[0].Args), `{"a": 1}`)
	})
	c.test("a run has the args of the plan if it has some", func(f *fixture) {
		s := f.plan("s", making(func(j *fairlead.Job) { j.Args = json.RawMessage(`"template"`) }))
		planned := byHand(f.now())
		f.equal("the args", string(f.get(jobOf(f.make(s, planned))).Args), `"template"`)
		planned.Args = json.RawMessage(`{"own":  1}`)
		f.equal("the args", string(f.get(jobOf(f.make(s, planned))).Args), `{"own":  1}`)
	})
	c.test("a run may have as large args as any job", func(f *fixture) {
		s := f.plan("s")
		planned := byHand(f.now())
		planned.Args = argsOf(fairlead.MaxArgs)
		f.equal("the size of the args", len(f.wantState(jobOf(f.make(s, planned)), fairlead.Ready).Args), fairlead.MaxArgs)
	})
	c.test("a plan that leaves the schedule untouched leaves it due, and its runs that have ended to the next View", func(f *fixture) {
		s, other := f.plan("s"), f.plan("t")
		job := jobOf(f.make(s, byHand(f.now())))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		before := f.schedules(schedule.Filter{})
		ended := 0
		for range 2 {
			f.tick(func(due schedule.Schedule, v schedule.View) schedule.Plan {
				if due.ID == other.ID {
					return runIt(due, v)
				}
				ended += len(v.Ended)
				return schedule.Plan{Untouched: true, Cancel: []int64{job.ID}, Fires: []schedule.PlannedFire{byHand(v.Now)}}
			})
		}
		f.equal("how often its run had ended", ended, 2)
		f.equal("the schedule", f.schedules(schedule.Filter{})[0], before[0])
		f.equal("the number of its runs", len(f.fires(s.ID)), 1)
		f.equal("the number of runs of the other one", len(f.fires(other.ID)), 1)
	})
	c.test("a run is listed as it was planned", func(f *fixture) {
		s := f.plan("s")
		planned := schedule.PlannedFire{Due: f.now().Add(-90 * time.Minute), Trigger: schedule.TriggerBackfill, Number: 4}
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{planned}})
		want := []schedule.Fire{{
			Job: fires[0].Job, Schedule: s.ID, Due: planned.Due, Trigger: schedule.TriggerBackfill, Number: 4, State: fairlead.Ready,
		}}
		f.equal("the runs as answered", fires, want)
		f.equal("the runs as read", f.fires(s.ID), want)
		f.equal("the runs as another process reads them", f.elsewhere().fires(s.ID), want)
	})
	c.test("the runs of a plan have IDs that ascend, whatever they are", func(f *fixture) {
		s := f.plan("s")
		now := f.now()
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{
			byHand(now), skipped(now), queued(now), byHand(now), skipped(now), skipped(now), byClock(now),
		}})
		f.equal("the number of runs", len(fires), 7)
		if !slices.IsSorted(fireJobs(fires)) {
			f.Fatalf("the IDs are %v", fireJobs(fires))
		}
		states := []fairlead.State{fairlead.Ready, fairlead.Skipped, fairlead.Scheduled, fairlead.Ready, fairlead.Skipped, fairlead.Skipped, fairlead.Ready}
		for i, fire := range fires {
			f.equal(fmt.Sprint("the state of run ", i), fire.State, states[i])
			f.wantState(jobOf(fire), states[i])
		}
	})
	c.test("many runs of many schedules are made at once", func(f *fixture) {
		for i := range 10 {
			f.plan(fmt.Sprint("s", i), making(forTenant(fmt.Sprint("t", i%3)), behind([]string{"", "g"}[i%2])))
		}
		ticked := f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan := runIt(s, view)
			for i := range 9 {
				plan.Fires = append(plan.Fires, byClock(s.Due.Add(-time.Duration(i+1)*time.Hour)))
			}
			return plan
		})
		f.equal("the runs", ticked.Runs, 100)
		f.equal("the jobs", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 53, fairlead.Parked: 47})
	})
	c.test("a skip is recorded, and never runs", func(f *fixture) {
		s := f.plan("s", making(keyed("k"), behind("g")))
		for _, reason := range []schedule.SkipReason{schedule.SkipOverlap, schedule.SkipFailure, schedule.SkipConcurrency} {
			planned := byHand(f.now())
			planned.Skip = reason
			fire := f.make(s, planned)
			f.equal("the run", fire, schedule.Fire{
				Job: fire.Job, Schedule: s.ID, Due: f.now(), Trigger: schedule.TriggerManual, Number: 1, Skip: reason, State: fairlead.Skipped, EndedAt: f.now(),
			})
			f.equal("the run as read", f.fire(fire.Job), fire)
			job := f.wantState(jobOf(fire), fairlead.Skipped)
			f.equal("its error", job.Error, string(reason))
			f.equal("its end", job.FinishedAt, f.now())
		}
		f.wantClaim(f.join(), everything())
		f.enqueue(with(keyed("k")))
	})
	c.test("a queued run waits, whatever time it is", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
		fire := f.make(s, queued(f.now()))
		f.equal("the run", fire, schedule.Fire{
			Job: fire.Job, Schedule: s.ID, Due: f.now(), Trigger: schedule.TriggerManual, Number: 1, Queued: true, State: fairlead.Scheduled,
		})
		f.equal("the run as read", f.fire(fire.Job), fire)
		f.equal("its time", f.get(jobOf(fire)).NotBefore, fairlead.Never)
		f.Advance(1000 * time.Hour)
		f.equal("what was promoted", f.promote().Moved, 0)
		f.wantState(jobOf(fire), fairlead.Scheduled)
		f.wantSeen(enough, leave)
	})
	c.test("Explain says that a queued run waits for an earlier one", func(f *fixture) {
		f.joinIdle()
		fire := f.make(f.plan("s"), queued(f.now()))
		e := f.explain(jobOf(fire), fairlead.IsQueued)
		f.equal("its start", e.Start, time.Time{})
		f.equal("until", e.Obstacles[0].Until, time.Time{})
	})
	c.test("Admit lets queued runs start", func(f *fixture) {
		s := f.plan("s")
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{queued(f.now()), queued(f.now()), queued(f.now())}})
		f.Advance(time.Minute)
		f.act(s, schedule.Plan{Admit: fireJobs(fires[:2])})
		f.wantState(jobOf(fires[2]), fairlead.Scheduled)
		f.equal("whether the third waits", f.fire(fires[2].Job).Queued, true)
		for _, fire := range fires[:2] {
			admitted := f.fire(fire.Job)
			f.equal("whether it waits", admitted.Queued, false)
			f.equal("its state", admitted.State, fairlead.Ready)
			f.claimThe(jobOf(fire), f.join())
		}
	})
	c.test("an admitted run passes its gate like any other job", func(f *fixture) {
		s := f.plan("s", making(behind("g")))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), queued(f.now())}})
		f.act(s, schedule.Plan{Admit: []int64{fires[1].Job}})
		f.wantState(jobOf(fires[1]), fairlead.Parked)
		f.ended(fires[0], fairlead.Succeed)
		f.wantState(jobOf(fires[1]), fairlead.Ready)
	})
	c.test("Admit of what does not wait changes nothing", func(f *fixture) {
		s, other := f.plan("s"), f.plan("other")
		foreign := f.make(other, queued(f.now()))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), queued(f.now())}})
		job := f.started(fires[0])
		f.ok(operations(f.store).Cancel(f.ctx(), fires[1].Job, ""))
		f.act(s, schedule.Plan{Admit: []int64{fires[0].Job, fires[1].Job, foreign.Job, unknown}})
		f.wantState(job, fairlead.Running)
		f.wantState(jobOf(fires[1]), fairlead.Cancelled)
		f.wantState(jobOf(foreign), fairlead.Scheduled)
	})
	c.test("an instant is run by the clock or to catch up, or skipped: once", func(f *fixture) {
		s := f.plan("s")
		due := f.now()
		clock, catchUp, skip := byClock(due), byClock(due), byClock(due)
		catchUp.Trigger, skip.Skip = schedule.TriggerCatchUp, schedule.SkipOverlap
		for i, first := range []schedule.PlannedFire{clock, catchUp, skip} {
			due := due.Add(time.Duration(i) * time.Hour)
			first.Due = due
			f.make(s, first)
			for _, second := range []schedule.PlannedFire{clock, catchUp, skip} {
				second.Due = due
				f.equal("the runs of the same instant", f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{second}}), []schedule.Fire(nil))
			}
		}
		f.equal("the number of runs", len(f.fires(s.ID)), 3)
	})
	c.test("of one instant twice in a plan the first counts", func(f *fixture) {
		s := f.plan("s")
		second := byClock(f.now())
		second.Trigger, second.Number = schedule.TriggerCatchUp, 2
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byClock(f.now()), second, byClock(f.now().Add(time.Hour))}})
		f.equal("the number of runs", len(fires), 2)
		f.equal("the trigger of the first", fires[0].Trigger, schedule.TriggerCron)
		f.equal("the number of jobs", len(f.find(fairlead.Filter{})), 2)
	})
	c.test("a schedule that starts over does not run its instants again", func(f *fixture) {
		s := f.plan("s")
		f.equal("the runs", f.tick(runIt).Runs, 1)
		_, err := f.tryPut(s, true)
		f.ok(err)
		f.equal("the runs", f.tick(runIt).Runs, 0)
		f.equal("the number of runs", len(f.fires(s.ID)), 1)
	})
	c.test("an instant may be run by hand and backfilled as often as one likes", func(f *fixture) {
		s := f.plan("s")
		backfill := byHand(f.now())
		backfill.Trigger = schedule.TriggerBackfill
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), backfill, backfill, byClock(f.now())}})
		f.equal("the number of runs", len(fires), 5)
	})
	testBackfill(c)
	c.test("a job whose key is taken becomes a run that has failed, with the reason", func(f *fixture) {
		holder := f.enqueue(with(keyed("k"), inQueue("elsewhere")))
		for _, do := range []fairlead.OnDuplicate{fairlead.RefuseDuplicate, fairlead.KeepDuplicate} {
			s := f.plan(string(do), making(keyed("k"), onDuplicate(do)))
			f.plan("other " + string(do))
			f.equal("the runs", f.tick(runIt).Runs, 2)
			fire := f.fires(s.ID)[0]
			f.equal("its state", fire.State, fairlead.Failed)
			f.equal("its end", fire.EndedAt, f.now())
			job := f.wantState(jobOf(fire), fairlead.Failed)
			f.equal("its reason", job.Reason, fairlead.ReasonError)
			if !strings.Contains(job.Error, fmt.Sprint("job ", holder.ID)) {
				f.Fatalf("it says %q", job.Error)
			}
			f.wantSeen(enough, leave, s.Name) // the run ended after the call of decide
			f.wantSeen(enough, leave)
		}
		f.equal("what can be claimed", len(f.claim(f.join(), 10)), 3)
	})
	c.test("a failed run can be retried when its key is free", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		fire := f.make(f.plan("s", making(keyed("k"))), byHand(f.now()))
		f.wantTaken(operations(f.store).Reopen(f.ctx(), fire.Job), holder)
		f.ok(operations(f.store).Cancel(f.ctx(), holder.ID, ""))
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		f.ended(fire, fairlead.Succeed)
	})
	c.test("a run that replaces a job takes its key", func(f *fixture) {
		s := f.plan("s", making(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		first, second := f.make(s, byHand(f.now())), f.make(s, byHand(f.now()))
		f.wantState(jobOf(first), fairlead.Cancelled)
		f.wantState(jobOf(second), fairlead.Ready)
		f.equal("the active runs", fireJobs(f.view(s).Active), []int64{second.Job})
	})
	c.test("a job for which its tenant has no room becomes a run that has failed, others do not", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "full", MaxPending: 2})
		f.plan("a", making(forTenant("full")))
		f.plan("b", making(forTenant("full")))
		f.plan("c", making(forTenant("full")))
		f.plan("d")
		f.equal("the runs", f.tick(runIt).Runs, 4)
		f.equal("the jobs", f.tally(fairlead.Filter{Tenants: []string{"full"}}), map[fairlead.State]int64{fairlead.Ready: 2, fairlead.Failed: 1})
		f.equal("the jobs of others", f.tally(fairlead.Filter{Tenants: []string{fairlead.DefaultTenant}}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
}

func testAct(c *chapter) {
	c.test("it acts on a schedule that is not due or not enabled", func(f *fixture) {
		later, off := f.plan("later", dueAt(f.now().Add(time.Hour))), f.plan("off", disabled)
		for _, s := range []schedule.Schedule{later, off} {
			f.make(s, byHand(f.now()))
			f.equal("the number of runs", len(f.fires(s.ID)), 1)
			f.equal("the schedule", f.schedule(s.ID), s)
		}
	})
	c.test("the cursor goes where the plan says", func(f *fixture) {
		s := f.plan("s")
		want := at(f.now().Add(time.Minute))
		_, err := f.store.Act(f.ctx(), s.ID, func(schedule.Schedule, schedule.View) (schedule.Plan, error) {
			return schedule.Plan{Cursor: want}, nil
		})
		f.ok(err)
		f.equal("the cursor", f.schedule(s.ID).Cursor, want)
	})
	c.test("what decide returns as an error undoes it", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), queued(f.now())}})
		f.ended(fires[0], fairlead.Succeed)
		refusal := errors.New("refused")
		for _, refusal := range []error{refusal, fmt.Errorf("no: %w", fairlead.ErrConflict)} {
			made, err := f.store.Act(f.ctx(), s.ID, func(s schedule.Schedule, view schedule.View) (schedule.Plan, error) {
				plan := runIt(s, view)
				plan.Admit = []int64{fires[1].Job}
				return plan, refusal
			})
			f.wantErr(err, refusal)
			f.equal("the runs", made, []schedule.Fire(nil))
		}
		f.equal("the schedule", f.schedule(s.ID), s)
		f.equal("the number of runs", len(f.fires(s.ID)), 2)
		f.wantState(jobOf(fires[1]), fairlead.Scheduled)
		f.wantSeen(enough, leave, "s") // the end of the first run has not been seen yet
	})
	c.test("what has ended is no news after it", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Succeed)
		f.view(s)
		f.wantSeen(enough, leave)
	})
	c.test("an unknown or deleted schedule gets ErrNotFound", func(f *fixture) {
		gone := f.plan("gone")
		f.ok(f.store.DeleteSchedule(f.ctx(), gone.ID))
		for _, id := range []int64{gone.ID, unknown} {
			_, err := f.store.Act(f.ctx(), id, func(s schedule.Schedule, view schedule.View) (schedule.Plan, error) {
				f.Error("decide was asked")
				return leave(s, view), nil
			})
			f.wantErr(err, fairlead.ErrNotFound)
		}
	})
	c.test("many at once act one after the other", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		numbered := func(s schedule.Schedule, view schedule.View) (schedule.Plan, error) {
			planned := byHand(view.Now)
			planned.Number = len(view.Active) + 1
			return schedule.Plan{Fires: []schedule.PlannedFire{planned}, Cursor: at(s.Due.Add(time.Second))}, nil
		}
		f.ok(first(f.rivals(8, func(_ int, store Store) error {
			_, err := store.Act(f.ctx(), s.ID, numbered)
			return err
		})))
		var numbers []int
		for _, fire := range f.fires(s.ID) {
			numbers = append(numbers, fire.Number)
		}
		slices.Sort(numbers)
		f.equal("the numbers", numbers, []int{1, 2, 3, 4, 5, 6, 7, 8})
		f.equal("the cursor", f.schedule(s.ID).Due, s.Due.Add(8*time.Second))
	})
}
