package storetest

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// failedRun creates a failed run of a schedule.
func (f *fixture) failedRun(s schedule.Schedule) schedule.Fire {
	f.Helper()
	fire := f.make(s, byHand(f.now()))
	f.settle(to(fairlead.Fail, f.claimThe(jobOf(fire), f.join())))
	return fire
}

func testReopen(c *chapter) {
	for _, state := range []fairlead.State{fairlead.Failed, fairlead.Cancelled} {
		c.test(named("a", state, "job becomes ready again"), func(f *fixture) {
			job := f.in(state)
			f.Advance(time.Minute)
			f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
			found := f.wantState(job, fairlead.Ready)
			f.equal("FinishedAt", found.FinishedAt, time.Time{})
			f.equal("Reason", found.Reason, fairlead.ReasonNone)
			f.equal("Error", found.Error, "")
			f.claimThe(job, f.join())
		})
	}
	c.test("a job that was cancelled before it was due becomes ready too", func(f *fixture) {
		job := f.in(fairlead.Scheduled)
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.wantState(job, fairlead.Ready)
		f.claimThe(job, f.join())
	})
	c.test("a job that was cancelled before it was due is meant for now", func(f *fixture) {
		job := f.enqueue(with(notBefore(f.now().Add(time.Hour))))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.Advance(time.Minute)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		found := f.wantState(job, fairlead.Ready)
		f.equal("NotBefore", found.NotBefore, f.now())
		f.equal("StartBy", found.StartBy, f.now())
		f.Advance(time.Second)
		f.enqueue(plain())
		f.claimThe(job, f.join())
	})
	c.test("a run that was cancelled while it was queued is meant for now", func(f *fixture) {
		fire := f.make(f.plan("s"), queued(f.now()))
		f.ok(operations(f.store).Cancel(f.ctx(), fire.Job, ""))
		f.Advance(time.Minute)
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		found := f.wantState(jobOf(fire), fairlead.Ready)
		f.equal("NotBefore", found.NotBefore, f.now())
		f.Advance(time.Second)
		f.enqueue(plain())
		f.claimThe(jobOf(fire), f.join())
	})
	c.test("a job that ended after it was due keeps its times", func(f *fixture) {
		job := f.in(fairlead.Failed)
		before := f.get(job)
		f.Advance(time.Minute)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		found := f.get(job)
		f.equal("NotBefore", found.NotBefore, before.NotBefore)
		f.equal("StartBy", found.StartBy, before.StartBy)
	})
	c.test("its failures and crashes are forgotten", func(f *fixture) {
		job := f.enqueue(plain())
		f.crash(f.claimThe(job, f.join()))
		f.settle(again(f.claimThe(job, f.join()), 0))
		f.settle(to(fairlead.Fail, f.claimThe(job, f.join())))
		ended := f.get(job)
		f.equal("Failures before", ended.Failures, 2)
		f.equal("Crashes before", ended.Crashes, 1)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		claimed := f.claimThe(job, f.join())
		f.equal("Failures", claimed.Failures, 0)
		f.equal("Crashes", claimed.Crashes, 0)
	})
	c.test("its memo, its numbering of runs and its recorded attempts are kept", func(f *fixture) {
		job := f.running()
		failure := to(fairlead.Fail, job)
		failure.Memo = json.RawMessage(`"kept"`)
		f.settle(failure)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		claimed := f.claimThe(job, f.join())
		f.equal("Memo", string(claimed.Memo), `"kept"`)
		f.equal("Attempt", claimed.Attempt, 2)
		f.equal("the number of recorded attempts", len(f.attempts(job)), 1)
		f.settle(to(fairlead.Fail, claimed))
		f.equal("the number of recorded attempts", len(f.attempts(job)), 2)
	})
	c.test("it takes the job's key again", func(f *fixture) {
		job := f.in(fairlead.Failed, keyed("k"))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
	})
	c.test("it conflicts if another job holds the key", func(f *fixture) {
		job := f.in(fairlead.Cancelled, keyed("k"))
		holder := f.enqueue(with(keyed("k")))
		f.wantTaken(operations(f.store).Reopen(f.ctx(), job.ID), holder)
		f.wantState(job, fairlead.Cancelled)
		f.ok(operations(f.store).Delete(f.ctx(), holder.ID))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
	})
	c.test("a key held forever is still the job's own", func(f *fixture) {
		job := f.in(fairlead.Failed, forever("k"))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.settle(to(fairlead.Succeed, f.claimThe(job, f.join())))
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
	})
	c.test("other states conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).Reopen(f.ctx(), id) }, except(fairlead.Failed, fairlead.Cancelled)...)
	})
	c.test("a task of a batch conflicts: the batch has counted its end", func(f *fixture) {
		task := f.letOut(f.opened(1))[0]
		f.settle(to(fairlead.Fail, f.claimThe(task, f.join())))
		f.wantErr(operations(f.store).Reopen(f.ctx(), task.ID), fairlead.ErrConflict)
		f.wantState(task, fairlead.Failed)
	})
	c.test("a run conflicts while as many runs of its schedule are active as may be", func(f *fixture) {
		s := f.plan("s", func(s *schedule.Schedule) { s.MaxConcurrency = 1 })
		first := f.failedRun(s)
		second := f.make(s, byHand(f.now()))
		f.wantErr(operations(f.store).Reopen(f.ctx(), first.Job), fairlead.ErrConflict)
		f.wantState(jobOf(first), fairlead.Failed)
		f.settle(to(fairlead.Fail, f.claimThe(jobOf(second), f.join())))
		f.ok(operations(f.store).Reopen(f.ctx(), first.Job))
		f.wantErr(operations(f.store).Reopen(f.ctx(), second.Job), fairlead.ErrConflict)
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.ok(operations(f.store).Reopen(f.ctx(), second.Job))
	})
	c.test("a queued run does not count as active when another run is reopened", func(f *fixture) {
		s := f.plan("s", func(s *schedule.Schedule) { s.MaxConcurrency = 1 })
		first := f.failedRun(s)
		f.make(s, queued(f.now()))
		f.ok(operations(f.store).Reopen(f.ctx(), first.Job))
	})
	c.test("runs are reopened beside others if their schedule lets runs be parallel", func(f *fixture) {
		s := f.plan("s", func(s *schedule.Schedule) { s.MaxConcurrency, s.Concurrency = 1, schedule.ConcurrencyParallel })
		first := f.failedRun(s)
		f.make(s, byHand(f.now()))
		f.ok(operations(f.store).Reopen(f.ctx(), first.Job))
	})
	c.test("of runs of a schedule that are reopened at once, as many are as may be active", func(f *fixture) {
		s := f.plan("s", func(s *schedule.Schedule) { s.MaxConcurrency = 2 })
		var runs []schedule.Fire
		for range 5 {
			runs = append(runs, f.failedRun(s))
		}
		won := 0
		for _, err := range f.rivals(len(runs), func(i int, store Store) error { return operations(store).Reopen(f.ctx(), runs[i].Job) }) {
			if err == nil {
				won++
			} else {
				f.wantErr(err, fairlead.ErrConflict)
			}
		}
		f.equal("the number that was reopened", won, 2)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).Reopen(f.ctx(), unknown), fairlead.ErrNotFound)
	})
	c.test("of many at once exactly one wins", func(f *fixture) {
		job := f.in(fairlead.Failed)
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error { return operations(store).Reopen(f.ctx(), job.ID) }))
		f.equal("the number of times it can be claimed", len(f.claim(f.join(), 10)), 1)
	})
}
