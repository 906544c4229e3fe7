package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// wantLast checks which run is the last one.
func (f *fixture) wantLast(s schedule.Schedule, want int64) schedule.View {
	f.Helper()
	view := f.view(s)
	got := int64(0)
	if view.Last != nil {
		got = view.Last.Job
	}
	f.equal("the job of the last run", got, want)
	return view
}

func testViews(c *chapter) {
	c.test("a schedule without runs has nothing to tell but the time", func(f *fixture) {
		f.equal("the view", f.view(f.plan("s")), schedule.View{Now: f.now(), Room: schedule.RunsAtOnce})
	})
	c.test("Active is what has not ended, queued ones too, oldest first", func(f *fixture) {
		s, other := f.plan("s"), f.plan("other")
		f.make(other, byHand(f.now()))
		f.Advance(time.Second)
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{
			byHand(f.now().Add(time.Hour)), queued(f.now()), skipped(f.now()), byHand(f.now().Add(-time.Hour)), byHand(f.now()),
		}})
		f.equal("the active runs", f.view(s).Active, []schedule.Fire{fires[0], fires[1], fires[3], fires[4]})
		f.ok(operations(f.store).Cancel(f.ctx(), fires[0].Job, ""))
		f.equal("the active runs", f.view(s).Active, []schedule.Fire{fires[1], fires[3], fires[4]})
	})
	c.test("a run that runs, backs off or waits is active", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		job := f.started(fire)
		for _, settlement := range []fairlead.Settlement{again(job, time.Minute), wait(job)} {
			f.equal("the active runs", fireJobs(f.view(s).Active), []int64{fire.Job})
			settlement.Fence = job.Fence
			f.settle(settlement)
			f.equal("the active runs", fireJobs(f.view(s).Active), []int64{fire.Job})
			if settlement.Move == fairlead.Again {
				f.ok(operations(f.store).RunNow(f.ctx(), fire.Job))
				job = f.started(fire)
			}
		}
	})
	c.test("Last is how the run ended", func(f *fixture) {
		s := f.plan("s")
		for _, end := range []struct {
			move  fairlead.Move
			state fairlead.State
		}{{fairlead.Succeed, fairlead.Succeeded}, {fairlead.Fail, fairlead.Failed}, {fairlead.Drop, fairlead.Cancelled}} {
			planned := byHand(f.now())
			planned.Number = 3
			fire := f.make(s, planned)
			f.Advance(time.Second)
			f.ended(fire, end.move)
			fire.State, fire.EndedAt = end.state, f.now()
			f.Advance(time.Minute)
			f.equal("the last run", f.view(s).Last, &fire)
			f.equal("the last run as it is told again", f.view(s).Last, &fire)
		}
	})
	c.test("Last is the one with the newest instant, whichever ended last", func(f *fixture) {
		s := f.plan("s")
		now := f.now()
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(now), byHand(now.Add(2 * time.Hour)), byHand(now.Add(time.Hour)), byHand(now.Add(-time.Hour))}})
		jobs := f.claim(f.join(), 10)
		f.settle(to(fairlead.Succeed, jobs[0]))
		f.wantLast(s, fires[0].Job)
		f.settle(to(fairlead.Fail, jobs[2]))
		f.wantLast(s, fires[2].Job)
		f.settle(to(fairlead.Succeed, jobs[3]))
		f.wantLast(s, fires[2].Job)
		f.settle(to(fairlead.Succeed, jobs[1]))
		f.wantLast(s, fires[1].Job)
	})
	c.test("of several that ended at once the newest instant counts", func(f *fixture) {
		s := f.plan("s")
		now := f.now()
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(now), byHand(now.Add(2 * time.Hour)), byHand(now.Add(time.Hour))}})
		for _, job := range f.claim(f.join(), 10) {
			f.settle(to(fairlead.Succeed, job))
		}
		f.wantLast(s, fires[1].Job)
	})
	c.test("a skip is not Last, and is told until a newer run ends", func(f *fixture) {
		s := f.plan("s")
		first := f.make(s, byHand(f.now()))
		f.ended(first, fairlead.Fail)
		f.equal("skipped", f.wantLast(s, first.Job).Skipped, false)
		f.Advance(time.Hour)
		f.make(s, skipped(f.now()))
		f.equal("skipped", f.wantLast(s, first.Job).Skipped, true)
		f.equal("skipped, as it is told again", f.view(s).Skipped, true)
		second := f.make(s, byHand(f.now()))
		f.equal("skipped while it runs", f.view(s).Skipped, true)
		f.ended(second, fairlead.Fail)
		f.equal("skipped", f.wantLast(s, second.Job).Skipped, false)
	})
	c.test("a skip is told if there was no run at all", func(f *fixture) {
		s := f.plan("s")
		f.make(s, skipped(f.now()))
		f.equal("skipped", f.wantLast(s, 0).Skipped, true)
	})
	c.test("Last is remembered after its job was pruned", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Fail)
		f.view(s)
		f.Advance(time.Hour)
		_, err := f.store.Prune(f.ctx(), driver.Retention{Failed: time.Minute}, 100)
		f.ok(err)
		f.wantGone(jobOf(fire))
		f.equal("its state", f.wantLast(s, fire.Job).Last.State, fairlead.Failed)
	})
	c.test("a run whose job was deleted counts as cancelled", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		f.ok(operations(f.store).Delete(f.ctx(), fire.Job))
		view := f.wantLast(s, fire.Job)
		f.equal("its state", view.Last.State, fairlead.Cancelled)
		f.equal("the active runs", len(view.Active), 0)
	})
	c.test("a run that is retried is active again, and not the last one any more", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		first := f.make(s, byHand(f.now()))
		f.ended(first, fairlead.Succeed)
		second := f.make(s, byHand(f.now().Add(time.Minute)))
		f.ended(second, fairlead.Fail)
		f.wantLast(s, second.Job)
		f.ok(operations(f.store).Reopen(f.ctx(), second.Job))
		for range 2 {
			view := f.wantLast(s, first.Job)
			f.equal("its state", view.Last.State, fairlead.Succeeded)
			f.equal("the active runs", fireJobs(view.Active), []int64{second.Job})
		}
		f.ended(second, fairlead.Succeed)
		f.wantSeen(enough, leave, "s")
		view := f.wantLast(s, second.Job)
		f.equal("its state", view.Last.State, fairlead.Succeeded)
		f.equal("the active runs", len(view.Active), 0)
	})
	c.test("while the last run is retried, one whose job was deleted can be the last", func(f *fixture) {
		s := f.plan("s")
		now := f.now()
		first, last := f.make(s, byHand(now)), f.make(s, byHand(now.Add(2*time.Hour)))
		f.ended(first, fairlead.Succeed)
		f.ended(last, fairlead.Fail)
		f.wantLast(s, last.Job)
		between := f.make(s, byHand(now.Add(time.Hour)))
		f.ok(operations(f.store).Delete(f.ctx(), between.Job))
		f.ok(operations(f.store).Reopen(f.ctx(), last.Job))
		f.equal("its state", f.wantLast(s, between.Job).Last.State, fairlead.Cancelled)
	})
	c.test("while the last run is retried, of several that have one instant the one that was made last is the last", func(f *fixture) {
		s := f.plan("s")
		now := f.now()
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(now), byHand(now), byHand(now), byHand(now.Add(time.Hour))}})
		for _, job := range f.claim(f.join(), 10) {
			f.settle(to(fairlead.Fail, job))
		}
		f.wantLast(s, fires[3].Job)
		f.ok(operations(f.store).Reopen(f.ctx(), fires[3].Job))
		f.wantLast(s, fires[2].Job)
	})
	c.test("the only run that is retried leaves no last one", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Fail)
		f.view(s)
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		f.wantLast(s, 0)
	})
	c.test("a run that is retried before anybody looked has never ended", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Fail)
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		f.wantSeen(enough, leave)
		f.equal("the active runs", fireJobs(f.wantLast(s, 0).Active), []int64{fire.Job})
	})
	c.test("a queued run that somebody lets run waits no longer", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{queued(f.now()), queued(f.now()), queued(f.now())}})
		f.ok(operations(f.store).RunNow(f.ctx(), fires[0].Job))
		f.ok(operations(f.store).Reschedule(f.ctx(), fires[1].Job, f.now().Add(time.Minute)))
		var waiting []bool
		for _, fire := range f.view(s).Active {
			waiting = append(waiting, fire.Queued)
			f.equal("the run as listed", f.fire(fire.Job).Queued, fire.Queued)
		}
		f.equal("which of them are queued", waiting, []bool{false, false, true})
		f.started(fires[0])
	})
	c.test("a queued run that was cancelled and retried waits no longer", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fire := f.make(s, queued(f.now()))
		f.ok(operations(f.store).Cancel(f.ctx(), fire.Job, ""))
		f.wantSeen(enough, leave, "s")
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		active := f.view(s).Active
		f.equal("the active runs", fireJobs(active), []int64{fire.Job})
		f.equal("whether it is queued", active[0].Queued, false)
		f.started(fire)
	})
}
