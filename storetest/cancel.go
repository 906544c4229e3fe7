package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testCancel(c *chapter) {
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Waiting} {
		c.test(named("a", state, "job ends as cancelled"), func(f *fixture) {
			job := f.in(state)
			f.Advance(time.Minute)
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "not needed"))
			found := f.wantState(job, fairlead.Cancelled)
			f.equal("Error", found.Error, "not needed")
			f.equal("FinishedAt", found.FinishedAt, f.now())
			f.Advance(2 * time.Hour)
			f.promote()
			f.wantClaim(f.join(), everything())
			_, err := expireOverdue(f.ctx(), f.store, 10)
			f.ok(err)
			f.wantState(job, fairlead.Cancelled)
		})
	}
	c.test("finished jobs conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).Cancel(f.ctx(), id, "too late") }, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).Cancel(f.ctx(), unknown, ""), fairlead.ErrNotFound)
	})
	c.test("a running job is asked to stop, and goes on", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		found := f.wantState(job, fairlead.Running)
		f.equal("CancelWish", found.CancelWish, true)
		f.equal("Fence", found.Fence, job.Fence)
	})
	c.test("its node hears of it with every beat until the job has moved", func(f *fixture) {
		job, other := f.running(), f.running(inQueue("other"))
		f.equal("what the node hears before", f.wishes(job.Node), []driver.Held(nil))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		for range 2 {
			f.equal("what the node hears", f.wishes(job.Node), []driver.Held{{ID: job.ID, Fence: job.Fence}})
		}
		f.equal("what another node hears", f.wishes(other.Node), []driver.Held(nil))
		f.wantSettled([]fairlead.Settled{cancelled}, to(fairlead.MoveRelease, job))
		f.equal("what the node hears after", f.wishes(job.Node), []driver.Held(nil))
	})
	c.test("a reason is not needed", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.equal("CancelWish", f.get(job).CancelWish, true)
		f.wantSettled([]fairlead.Settled{cancelled}, again(job, time.Second))
	})
	c.test("a running job can be asked twice", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "really"))
		f.equal("what the node hears", f.wishes(job.Node), []driver.Held{{ID: job.ID, Fence: job.Fence}})
		f.wantSettled([]fairlead.Settled{cancelled}, to(fairlead.MoveRelease, job))
		f.equal("the reason that counts", f.get(job).Error, "enough")
	})
	testCancelWish(c)
}

// wishes returns the jobs that a node is requested to stop.
func (f *fixture) wishes(node fairlead.NodeID) []driver.Held {
	f.Helper()
	answer, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
	f.ok(err)
	return answer.Cancel
}

// testCancelWish covers the ends of running jobs with a requested cancellation.
func testCancelWish(c *chapter) {
	for _, move := range []fairlead.Move{fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait, fairlead.Drop} {
		c.test(named("a running job that was asked to stop ends as cancelled instead of", move), func(f *fixture) {
			job := f.running()
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
			f.Advance(time.Minute)
			settlement := to(move, job)
			settlement.After, settlement.Reason = time.Second, fairlead.ReasonError
			f.wantSettled([]fairlead.Settled{cancelled}, settlement)
			found := f.wantState(job, fairlead.Cancelled)
			f.equal("Error", found.Error, "enough")
			f.equal("FinishedAt", found.FinishedAt, f.now())
			f.equal("Fence", found.Fence, job.Fence)
			f.equal("CancelWish", found.CancelWish, false)
		})
	}
	c.test("a running job that was asked to stop may still succeed", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.settle(to(fairlead.Succeed, job))
		found := f.wantState(job, fairlead.Succeeded)
		f.equal("Error", found.Error, "")
	})
	c.test("a running job that was asked to stop may still fail", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		failure := to(fairlead.Fail, job)
		failure.Reason, failure.Error = fairlead.ReasonFatal, "hopeless"
		f.settle(failure)
		found := f.wantState(job, fairlead.Failed)
		f.equal("Reason", found.Reason, fairlead.ReasonFatal)
		f.equal("Error", found.Error, "hopeless")
	})
	c.test("a running job that was asked to stop ends as cancelled when its node dies", func(f *fixture) {
		job := f.running(keyed("k"))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.crash(job)
		found := f.wantState(job, fairlead.Cancelled)
		f.equal("Error", found.Error, "enough")
		f.wantFree("k")
	})
}
