package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

func testFires(c *chapter) {
	c.test("runs are listed newest first, a page at a time", func(f *fixture) {
		s, other := f.plan("s"), f.plan("other")
		var made []int64
		for range 5 {
			made = append([]int64{f.make(s, byHand(f.now())).Job}, made...)
		}
		foreign := f.make(other, byHand(f.now()))
		page := func(filter schedule.FireFilter) []int64 { return fireJobs(f.findFires(filter)) }
		f.equal("all", page(schedule.FireFilter{}), append([]int64{foreign.Job}, made...))
		f.equal("the first page of all", page(schedule.FireFilter{Limit: 2}), []int64{foreign.Job, made[0]})
		f.equal("the second page of all", page(schedule.FireFilter{Limit: 2, Below: made[0]}), made[1:3])
		f.equal("of a schedule", page(schedule.FireFilter{Schedule: s.ID}), made)
		f.equal("the first page", page(schedule.FireFilter{Schedule: s.ID, Limit: 2}), made[:2])
		f.equal("the second page", page(schedule.FireFilter{Schedule: s.ID, Limit: 2, Below: made[1]}), made[2:4])
		f.equal("by job", page(schedule.FireFilter{Jobs: []int64{made[3], made[1], unknown}}), []int64{made[1], made[3]})
		f.equal("by both", page(schedule.FireFilter{Schedule: s.ID, Jobs: []int64{made[3], foreign.Job}}), []int64{made[3]})
		f.equal("of nobody", page(schedule.FireFilter{Schedule: unknown}), []int64(nil))
	})
	c.test("a job that no schedule made is no run", func(f *fixture) {
		job := f.enqueue(plain())
		f.equal("the runs", f.findFires(schedule.FireFilter{Jobs: []int64{job.ID}}), []schedule.Fire(nil))
	})
	c.test("runs have the state that their jobs have now", func(f *fixture) {
		fire := f.make(f.plan("s"), byHand(f.now()))
		check := func(want fairlead.State, ended time.Time) {
			f.Helper()
			fire.State, fire.EndedAt = want, ended
			f.equal("the run", f.fire(fire.Job), fire)
		}
		check(fairlead.Ready, time.Time{})
		job := f.started(fire)
		check(fairlead.Running, time.Time{})
		f.settle(again(job, time.Minute))
		check(fairlead.Scheduled, time.Time{})
		f.Advance(time.Minute)
		f.promote()
		job = f.started(fire)
		f.settle(wait(job))
		check(fairlead.Waiting, time.Time{})
		f.Advance(time.Second)
		f.resolve(to(fairlead.Fail, job))
		check(fairlead.Failed, f.now())
		f.tick(leave)
		check(fairlead.Failed, f.now())
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		check(fairlead.Ready, time.Time{})
		f.ended(fire, fairlead.Succeed)
		check(fairlead.Succeeded, f.now())
		f.tick(leave)
		f.Advance(time.Second)
		check(fairlead.Succeeded, fire.EndedAt)
	})
	c.test("runs have the states of their own jobs, whatever becomes of others", func(f *fixture) {
		for _, state := range possible() {
			f.in(state)
		}
		f.enqueue(many(2, behind("g"), forTenant("other"))...)
		s := f.plan("s", making(inQueue("runs"), behind("g")), dueAt(f.now().Add(time.Hour)))
		scope := &driver.Scope{Queues: []string{"runs"}, Kinds: []string{kind}}
		f.perKey(kind, 3)
		want := []fairlead.State{fairlead.Running, fairlead.Waiting, fairlead.Ready, fairlead.Parked, fairlead.Scheduled, fairlead.Skipped}
		f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), byHand(f.now()), byHand(f.now()), queued(f.now()), skipped(f.now())}})
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 2})
		f.settle(wait(claimed[1]))
		statesOf := func(fires []schedule.Fire) []fairlead.State {
			states := make([]fairlead.State, len(fires))
			for i, fire := range fires {
				states[i] = fire.State
			}
			return states
		}
		fires := f.fires(s.ID)
		slices.Reverse(fires)
		f.equal("the states as listed", statesOf(fires), want)
		f.equal("the states of those that decide is told to be active", statesOf(f.view(s).Active), want[:5])
		f.settle(to(fairlead.Fail, claimed[0]))
		view := f.view(s)
		f.equal("the states of those that decide is told to be active then", statesOf(view.Active), []fairlead.State{fairlead.Waiting, fairlead.Ready, fairlead.Ready, fairlead.Scheduled})
		f.equal("the states of those that decide is told to have ended", statesOf(view.Ended), []fairlead.State{fairlead.Failed})
	})
	c.test("a run whose job was deleted is gone", func(f *fixture) {
		kept := f.make(f.plan("other", making(ofKind("other"))), byHand(f.now()))
		s := f.plan("s")
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), queued(f.now()), skipped(f.now())}})
		f.ended(fires[0], fairlead.Succeed)
		f.view(s)
		for _, fire := range fires {
			f.ok(operations(f.store).Delete(f.ctx(), fire.Job))
		}
		f.equal("the runs", f.fires(s.ID), []schedule.Fire(nil))
		f.equal("the first page of all", fireJobs(f.findFires(schedule.FireFilter{Limit: 1})), []int64{kept.Job})
		f.equal("the active runs", len(f.view(s).Active), 0)
		f.equal("the runs", f.fires(s.ID), []schedule.Fire(nil))
	})
	c.test("a run is removed with its job by Prune", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), skipped(f.now()), byHand(f.now())}})
		f.ended(fires[0], fairlead.Succeed)
		f.tick(leave)
		f.Advance(time.Hour)
		removed, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Minute, Skipped: time.Minute}, 100)
		f.ok(err)
		f.equal("how many were pruned", removed, 2)
		f.equal("the runs", fireJobs(f.fires(s.ID)), []int64{fires[2].Job})
	})
	c.test("an instant whose run was pruned is not run again by the schedule's own cursor", func(f *fixture) {
		s := f.plan("s")
		f.tick(runIt)
		f.ended(f.fires(s.ID)[0], fairlead.Succeed)
		f.tick(leave)
		f.Advance(30 * time.Minute)
		_, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Minute}, 100)
		f.ok(err)
		f.wantSeen(enough, runIt)
	})
}

func testDeleteSchedule(c *chapter) {
	c.test("a deleted schedule is not listed, and is not due", func(f *fixture) {
		s := f.plan("s")
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.equal("the schedules", f.schedules(schedule.Filter{}), []schedule.Schedule(nil))
		f.equal("by ID", f.schedules(schedule.Filter{IDs: []int64{s.ID}}), []schedule.Schedule(nil))
		f.equal("what is next", max(f.wantSeen(enough, runIt).Next, -1), time.Duration(-1))
	})
	c.test("an unknown schedule, or one that is deleted already, gets ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.DeleteSchedule(f.ctx(), unknown), fairlead.ErrNotFound)
		s := f.plan("s")
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.wantErr(f.store.DeleteSchedule(f.ctx(), s.ID), fairlead.ErrNotFound)
	})
	c.test("its active runs go on, and their ends are no news", func(f *fixture) {
		s := f.plan("s")
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), byHand(f.now())}})
		ended, running := f.started(fires[0]), f.started(fires[1])
		f.settle(to(fairlead.Fail, ended))
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.settle(to(fairlead.Succeed, running))
		f.ended(fires[2], fairlead.Succeed)
		f.ok(operations(f.store).Reopen(f.ctx(), ended.ID))
		f.ended(fires[0], fairlead.Succeed)
		f.wantSeen(enough, leave)
	})
	c.test("its queued runs end as cancelled", func(f *fixture) {
		s, other := f.plan("s"), f.plan("other")
		foreign := f.make(other, queued(f.now()))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{queued(f.now()), queued(f.now()), byHand(f.now())}})
		f.act(s, schedule.Plan{Admit: []int64{fires[1].Job}})
		f.Advance(time.Second)
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		job := f.wantState(jobOf(fires[0]), fairlead.Cancelled)
		f.equal("its end", job.FinishedAt, f.now())
		f.wantState(jobOf(fires[1]), fairlead.Ready)
		f.wantState(jobOf(fires[2]), fairlead.Ready)
		f.wantState(jobOf(foreign), fairlead.Scheduled)
	})
	c.test("all its runs can still be read, until their jobs are removed", func(f *fixture) {
		s := f.plan("s")
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), queued(f.now()), skipped(f.now())}})
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		states := map[int64]fairlead.State{}
		for _, fire := range f.fires(s.ID) {
			states[fire.Job] = fire.State
		}
		f.equal("the runs", states, map[int64]fairlead.State{
			fires[0].Job: fairlead.Ready, fires[1].Job: fairlead.Cancelled, fires[2].Job: fairlead.Skipped,
		})
		f.Advance(48 * time.Hour)
		_, err := f.store.Prune(f.ctx(), driver.Retention{Cancelled: time.Minute}, 100)
		f.ok(err)
		f.equal("the runs that are left", len(f.fires(s.ID)), 2)
		f.ended(fires[0], fairlead.Succeed)
		f.Advance(48 * time.Hour)
		for range 2 {
			_, err = f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Minute, Skipped: time.Minute}, 100)
			f.ok(err)
			f.equal("the runs that are left", len(f.fires(s.ID)), 0)
		}
	})
	c.test("one of the same name has nothing of it", func(f *fixture) {
		f.make(f.plan("s"), byClock(f.now()))
		f.ok(f.store.DeleteSchedule(f.ctx(), f.schedules(schedule.Filter{})[0].ID))
		s := f.plan("s")
		view := f.view(s)
		f.equal("the active runs", len(view.Active), 0)
		f.equal("the runs", f.tick(runIt).Runs, 1)
	})
}
