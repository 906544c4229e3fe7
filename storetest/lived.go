package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testLived(c *chapter) {
	c.test("what is taken back after it gets no crash counted", func(f *fixture) {
		job := f.running()
		f.lived(job)
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1})
		f.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
	})
	c.test("a crash that was counted is taken back wherever the job is", func(f *fixture) {
		for _, place := range livedPlaces(f) {
			job := f.running()
			f.crash(job)
			f.equal("Crashes", f.get(job).Crashes, 1)
			place.move(job)
			f.lived(job)
			f.wantState(job, place.state)
			f.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
		}
	})
	c.test("a parked job has a crash less", func(f *fixture) {
		job := f.running(behind("g"))
		f.crash(job)
		other := with(behind("g"))
		f.enqueue(other)
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, f.now().Add(time.Second)))
		f.Advance(time.Minute)
		f.promote()
		f.wantState(job, fairlead.Parked)
		f.lived(job)
		f.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
		f.wantState(job, fairlead.Parked)
	})
	c.test("a job that is no suspect any more is claimed with the others", func(f *fixture) {
		job := f.enqueue(with())
		var last *fairlead.Job
		for range driver.SoloAfter {
			last = f.claimThe(job, f.join())
			f.crash(last)
		}
		f.wantClaim(f.join(), everything())
		f.elsewhere().lived(last)
		f.equal("Crashes", f.get(job).Crashes, driver.SoloAfter-1)
		f.wantClaim(f.join(), everything(), job)
	})
	c.test("the crashes of other nodes stay", func(f *fixture) {
		job := f.enqueue(with())
		first := f.claimThe(job, f.join())
		f.crash(first)
		second := f.claimThe(job, f.join())
		f.crash(second)
		f.lived(first)
		f.wantSurvivor(job, 1, fairlead.ReasonLeaseLost, fairlead.ReasonCrash)
	})
	c.test("the crashes of other jobs stay, wherever they are, until their own node says so", func(f *fixture) {
		for _, place := range livedPlaces(f) {
			job, other := f.running(), f.running()
			f.crash(job)
			f.crash(other)
			place.move(job)
			place.move(other)
			f.lived(job)
			f.equal("Crashes of the other job, which is "+string(place.state), f.get(other).Crashes, 1)
			f.lived(other)
			f.wantSurvivor(other, 0, fairlead.ReasonLeaseLost)
		}
	})
	c.test("the crashes of other parked jobs stay", func(f *fixture) {
		f.perKey(kind, 2)
		job, other := f.running(behind("g")), f.running(behind("g"))
		f.enqueue(many(2, behind("g"))...)
		for _, crashed := range []*fairlead.Job{job, other} {
			f.crash(crashed)
			f.ok(operations(f.store).Reschedule(f.ctx(), crashed.ID, f.now().Add(time.Second)))
		}
		f.Advance(time.Minute)
		f.promote()
		f.wantState(job, fairlead.Parked)
		f.lived(job)
		f.equal("Crashes of the one", f.wantState(job, fairlead.Parked).Crashes, 0)
		f.equal("Crashes of the other", f.wantState(other, fairlead.Parked).Crashes, 1)
	})
	c.test("a crash that was counted a moment ago is taken back after Prune, too", func(f *fixture) {
		job := f.running()
		f.crash(job)
		f.Advance(time.Minute)
		f.prune(100)
		f.lived(job)
		f.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
	})
	c.test("many lost leases in a row make no poison", func(f *fixture) {
		job := f.enqueue(with())
		for i := range 6 {
			claimed := f.claimThe(job, f.join())
			f.lived(claimed)
			f.ok(f.store.Leave(f.ctx(), claimed.Node))
			reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 1, Limit: 10})
			f.ok(err)
			f.equal("what is reaped", reaped, driver.Reaped{Jobs: 1})
			f.equal("the number of recorded attempts", len(f.attempts(job)), i+1)
		}
		f.equal("Crashes", f.get(job).Crashes, 0)
	})
	c.test("a job that has ended stays as it is", func(f *fixture) {
		job := f.running()
		f.crash(job)
		f.settle(to(fairlead.Succeed, f.claimThe(job, f.join())))
		f.lived(job)
		f.equal("Crashes", f.wantState(job, fairlead.Succeeded).Crashes, 1)
	})
	c.test("no job has less crashes than none", func(f *fixture) {
		job := f.running()
		f.crash(job)
		claimed := f.claimThe(job, f.join())
		f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: claimed.Fence, Memo: []byte(`1`)}))
		f.lived(job)
		f.equal("Crashes", f.get(job).Crashes, 0)
	})
	c.test("saying so twice, or of an unknown node, is fine", func(f *fixture) {
		job := f.enqueue(with())
		first := f.claimThe(job, f.join())
		f.crash(f.claimAfterCrash(first))
		f.lived(first)
		f.lived(first)
		f.equal("Crashes", f.get(job).Crashes, 1)
		f.ok(f.store.Lived(f.ctx(), 1<<40))
	})
	c.test("a job that asked for it ends as cancelled all the same: it may have run half", func(f *fixture) {
		job := f.running(cancelOnCrash)
		f.lived(job)
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Cancelled: 1})
	})
	c.test("many at once take a crash back once", func(f *fixture) {
		job := f.enqueue(with())
		first := f.claimThe(job, f.join())
		f.crash(f.claimAfterCrash(first))
		f.race(first.Node)
		f.wantSurvivor(job, 1, fairlead.ReasonLeaseLost, fairlead.ReasonCrash)
	})
	testPatience(c)
}

// testPatience covers jobs that the next crash ends.
func testPatience(c *chapter) {
	strict := driver.Reap{MaxCrashes: 1, Limit: 1, Patience: time.Minute}
	reap := func(f *fixture) driver.Reaped {
		f.Helper()
		reaped, err := f.store.Reap(f.ctx(), strict)
		f.ok(err)
		return reaped
	}
	c.test("Reap waits for Patience before a job ends as poison", func(f *fixture) {
		job := f.enqueue(with())
		f.claimThe(job, f.joinFor(time.Second))
		f.Advance(31 * time.Second)
		f.equal("what is reaped before", reap(f), driver.Reaped{Nodes: 1})
		f.wantState(job, fairlead.Running)
		f.Advance(time.Minute)
		f.equal("what is reaped after", reap(f), driver.Reaped{Poisoned: 1})
	})
	c.test("a job of a node that says meanwhile that it lived becomes ready", func(f *fixture) {
		job := f.enqueue(with())
		claimed := f.claimThe(job, f.joinFor(time.Second))
		f.Advance(31 * time.Second)
		reap(f)
		f.lived(claimed)
		f.equal("what is reaped", reap(f), driver.Reaped{Jobs: 1})
		f.wantSurvivor(job, 0, fairlead.ReasonLeaseLost)
	})
	c.test("jobs that have to wait do not hold up the others", func(f *fixture) {
		waits, wished := f.enqueue(with()), f.enqueue(with())
		f.claim(f.joinFor(time.Second), 2)
		f.ok(operations(f.store).Cancel(f.ctx(), wished.ID, ""))
		f.Advance(31 * time.Second)
		f.equal("what is reaped", reap(f), driver.Reaped{Nodes: 1, Cancelled: 1})
		f.wantState(waits, fairlead.Running)
	})
}

// livedPlace is a state that a job can move to after it was taken back.
type livedPlace struct {
	state fairlead.State
	move  func(job *fairlead.Job)
}

func livedPlaces(f *fixture) []livedPlace {
	return []livedPlace{
		{fairlead.Running, func(job *fairlead.Job) { f.claimThe(job, f.join()) }},
		{fairlead.Waiting, func(job *fairlead.Job) { f.settle(wait(f.claimThe(job, f.join()))) }},
		{fairlead.Scheduled, func(job *fairlead.Job) { f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, f.now().Add(time.Hour))) }},
		{fairlead.Ready, func(*fairlead.Job) {}},
	}
}

// lived reports that the process of a job's node is alive.
func (f *fixture) lived(job *fairlead.Job) {
	f.Helper()
	f.ok(f.store.Lived(f.ctx(), job.Node))
}

// claimAfterCrash ends the node of a claimed job as crashed, and claims the job again.
func (f *fixture) claimAfterCrash(job *fairlead.Job) *fairlead.Job {
	f.Helper()
	f.crash(job)
	return f.claimThe(job, f.join())
}

// race reports concurrently, many times, that a node lived.
func (f *fixture) race(node fairlead.NodeID) {
	f.Helper()
	f.ok(first(f.rivals(4, func(_ int, store Store) error { return store.Lived(f.ctx(), node) })))
}

// wantSurvivor checks the crash count of a job and the reasons of its attempts.
func (f *fixture) wantSurvivor(job *fairlead.Job, crashes int, want ...fairlead.Reason) {
	f.Helper()
	f.equal("Crashes", f.get(job).Crashes, crashes)
	f.equal("the reasons of its attempts", reasons(f.attempts(job)), want)
}
