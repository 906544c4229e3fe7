package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// replace starts a run that replaces others.
func (f *fixture) replace(s schedule.Schedule, jobs ...int64) schedule.Fire {
	f.Helper()
	fires := f.act(s, schedule.Plan{Cancel: jobs, Fires: []schedule.PlannedFire{byHand(f.now())}})
	f.equal("the number of new runs", len(fires), 1)
	return fires[0]
}

// wantReplaced checks that another run replaced this one.
func (f *fixture) wantReplaced(fire schedule.Fire) {
	f.Helper()
	job := f.wantState(jobOf(fire), fairlead.Cancelled)
	f.equal("its reason", job.Reason, fairlead.ReasonReplaced)
	f.equal("its end", job.FinishedAt, f.now())
	f.equal("the state of the run", f.fire(fire.Job).State, fairlead.Cancelled)
}

func testReplaced(c *chapter) {
	c.test("Cancel ends a run that has not started", func(f *fixture) {
		s := f.plan("s", making(behind("g")), dueAt(f.now().Add(time.Hour)))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), queued(f.now())}})
		f.wantState(jobOf(fires[0]), fairlead.Ready)
		f.wantState(jobOf(fires[1]), fairlead.Parked)
		f.wantState(jobOf(fires[2]), fairlead.Scheduled)
		f.Advance(time.Minute)
		fresh := f.replace(s, fireJobs(fires)...)
		for _, fire := range fires {
			f.wantReplaced(fire)
		}
		f.equal("the active runs", fireJobs(f.view(s).Active), []int64{fresh.Job})
		f.wantState(jobOf(fresh), fairlead.Ready) // the slot at the gate is free again
		f.wantClaim(f.join(), everything(), jobOf(fresh))
	})
	c.test("Cancel ends a run that backs off", func(f *fixture) {
		s := f.plan("s", making(behind("g")))
		fire := f.make(s, byHand(f.now()))
		f.settle(again(f.started(fire), time.Hour))
		fresh := f.replace(s, fire.Job)
		f.wantReplaced(fire)
		f.wantState(jobOf(fresh), fairlead.Ready)
	})
	c.test("Cancel ends a run that waits for its answer", func(f *fixture) {
		s := f.plan("s", making(behind("g")))
		fire := f.make(s, byHand(f.now()))
		job := f.started(fire)
		f.settle(wait(job))
		fresh := f.replace(s, fire.Job)
		f.wantReplaced(fire)
		f.wantState(jobOf(fresh), fairlead.Ready)
		f.wantErr(f.store.Resolve(f.ctx(), to(fairlead.Succeed, job)), fairlead.ErrConflict)
	})
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again, fairlead.MoveAwait, fairlead.MoveRelease} {
		c.test(named("Cancel ends a run that is running, and its node is too late to", move), func(f *fixture) {
			s := f.plan("s")
			fire := f.make(s, byHand(f.now()))
			job := f.started(fire)
			f.Advance(time.Minute)
			f.replace(s, fire.Job)
			f.wantReplaced(fire)
			ended := f.get(job)
			f.wantSettled([]fairlead.Settled{fairlead.SettledLost}, to(move, job))
			f.wantErr(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence}), fairlead.ErrLeaseLost)
			f.equal("the job", f.get(job), ended)
			held, err := f.store.Held(f.ctx(), job.Node)
			f.ok(err)
			f.equal("what the node holds", held, []driver.Held(nil))
			f.crash(job)
			f.equal("the job after its node is gone", f.get(job), ended)
		})
	}
	c.test("the place at a gate and the slots of limits are given back at once", func(f *fixture) {
		f.cap(fairlead.LimitKind, kind, 1)
		f.cap(fairlead.LimitTenant, "acme", 1)
		s := f.plan("s", making(behind("g"), forTenant("acme")))
		for range 3 {
			fire := f.make(s, byHand(f.now()))
			job := f.started(fire)
			fresh := f.replace(s, fire.Job)
			f.wantReplaced(fire)
			f.wantSettled([]fairlead.Settled{fairlead.SettledLost}, to(fairlead.Succeed, job))
			f.ended(fresh, fairlead.Succeed)
		}
		f.wantNoDrift()
		limits, err := f.store.Limits(f.ctx())
		f.ok(err)
		for _, limit := range limits {
			f.equal("what counts against a limit", limit.Running, 0)
		}
	})
	c.test("the key of a replaced run is free, unless it is held forever", func(f *fixture) {
		s := f.plan("s", making(keyed("k")))
		fire := f.make(s, byHand(f.now()))
		f.started(fire)
		fresh := f.replace(s, fire.Job)
		f.wantState(jobOf(fresh), fairlead.Ready)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), jobOf(fresh))
		held := f.plan("held", making(forever("f")))
		fire = f.make(held, byHand(f.now()))
		f.wantState(jobOf(f.replace(held, fire.Job)), fairlead.Failed)
	})
	c.test("the node that runs it is woken", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		f.started(fire)
		l := f.listen(everything())
		f.replace(s, fire.Job)
		if !l.heard(driver.WakeCancel, patient) {
			f.Fatal("nobody was woken")
		}
	})
	c.test("what a plan has cancelled is no news, and is the last run", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		fire := f.make(s, byHand(f.now()))
		f.started(fire)
		f.replace(s, fire.Job)
		f.wantSeen(enough, leave)
		last := f.view(s).Last
		if last == nil || last.Job != fire.Job || last.State != fairlead.Cancelled {
			f.Fatalf("the last run is %+v", last)
		}
	})
	c.test("Cancel of what has ended or belongs to others changes nothing", func(f *fixture) {
		s, other := f.plan("s"), f.plan("other")
		foreign, stranger := f.make(other, queued(f.now())), f.enqueue(with(ofKind("stranger")))
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Succeed)
		f.replace(s, fire.Job, foreign.Job, stranger.ID, unknown)
		f.wantState(jobOf(fire), fairlead.Succeeded)
		f.wantState(jobOf(foreign), fairlead.Scheduled)
		f.wantState(stranger, fairlead.Ready)
	})
	c.test("what is both to be cancelled and to be admitted is cancelled", func(f *fixture) {
		s := f.plan("s")
		fire := f.make(s, queued(f.now()))
		f.act(s, schedule.Plan{Cancel: []int64{fire.Job}, Admit: []int64{fire.Job}})
		f.wantReplaced(fire)
	})
	c.test("of a settlement and Cancel at once exactly one wins", func(f *fixture) {
		g := f.elsewhere()
		s := f.plan("s", dueAt(f.now().Add(time.Hour)))
		for range f.rounds(10) {
			fire := f.make(s, byHand(f.now()))
			job := f.started(fire)
			var settled []fairlead.Settled
			var settle, act error
			together(
				func() {
					settled, settle = SettleAll(f.ctx(), f.store, []fairlead.Settlement{to(fairlead.Succeed, job)})
				},
				func() {
					_, act = g.store.Act(f.ctx(), s.ID, func(s schedule.Schedule, _ schedule.View) (schedule.Plan, error) {
						return schedule.Plan{Cancel: []int64{fire.Job}, Cursor: s.Cursor}, nil
					})
				},
			)
			f.ok(settle)
			f.ok(act)
			if settled[0] == fairlead.SettledLost {
				f.wantReplaced(fire)
			} else {
				f.wantState(job, fairlead.Succeeded)
			}
			f.equal("the active runs", len(f.view(s).Active), 0)
		}
	})
}
