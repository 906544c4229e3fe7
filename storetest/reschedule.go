package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

func testReschedule(c *chapter) {
	c.test("it sets when a scheduled job becomes due", func(f *fixture) {
		now := f.now()
		job := f.enqueue(with(notBefore(now.Add(time.Hour))))
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, now.Add(time.Minute)))
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, now.Add(time.Minute))
		f.Advance(time.Minute)
		f.promote()
		f.claimThe(job, f.join())
	})
	c.test("it sets when a ready job becomes due", func(f *fixture) {
		job, at := f.enqueue(plain()), f.now().Add(time.Hour)
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, at))
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, at)
		f.wantClaim(f.join(), everything())
		f.Advance(time.Hour)
		f.promote()
		f.claimThe(job, f.join())
	})
	c.test("a time that has come makes the job ready", func(f *fixture) {
		now := f.now()
		for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready} {
			for _, at := range []time.Time{now, now.Add(-time.Hour)} {
				job := f.in(state)
				f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, at))
				f.wantState(job, fairlead.Ready)
				f.claimThe(job, f.join())
			}
		}
	})
	c.test("StartBy moves along if it was the due time", func(f *fixture) {
		now := f.now()
		at := now.Add(2 * time.Hour)
		for _, job := range []*fairlead.Job{plain(), with(notBefore(now)), with(notBefore(now.Add(time.Hour)))} {
			f.enqueue(job)
			f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, at))
			f.equal("StartBy", f.wantState(job, fairlead.Scheduled).StartBy, at)
		}
	})
	c.test("StartBy stays if it was not the due time", func(f *fixture) {
		now := f.now()
		acceptable := now.Add(3 * time.Hour)
		for _, job := range []*fairlead.Job{with(startBy(acceptable)), with(notBefore(now.Add(time.Hour)), startBy(acceptable))} {
			f.enqueue(job)
			f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, now.Add(2*time.Hour)))
			f.equal("StartBy", f.wantState(job, fairlead.Scheduled).StartBy, acceptable)
		}
	})
	c.test("a pause between attempts is not the due time", func(f *fixture) {
		job, at := f.running(), f.now().Add(2*time.Hour)
		f.settle(again(job, time.Hour))
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, at))
		f.equal("StartBy, which was the due time", f.get(job).StartBy, at)

		acceptable := f.now().Add(time.Hour)
		other := f.running(startBy(acceptable))
		f.settle(again(other, time.Hour))
		f.ok(operations(f.store).Reschedule(f.ctx(), other.ID, at))
		f.equal("StartBy, which was not", f.get(other).StartBy, acceptable)
	})
	c.test("attempts, failures and crashes stay", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		f.crash(f.claimThe(job, f.join()))
		f.ok(operations(f.store).Reschedule(f.ctx(), job.ID, f.now().Add(time.Hour)))
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("Attempt", found.Attempt, 2)
		f.equal("Failures", found.Failures, 1)
		f.equal("Crashes", found.Crashes, 1)
	})
	c.test("other states conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).Reschedule(f.ctx(), id, f.now().Add(time.Hour)) }, except(fairlead.Scheduled, fairlead.Ready)...)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).Reschedule(f.ctx(), unknown, f.now()), fairlead.ErrNotFound)
	})
}

func testRunNow(c *chapter) {
	c.test("it makes a scheduled job ready at once", func(f *fixture) {
		job := f.in(fairlead.Scheduled)
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		f.wantState(job, fairlead.Ready)
		f.claimThe(job, f.join())
	})
	c.test("a StartBy that was the due time becomes now", func(f *fixture) {
		job := f.in(fairlead.Scheduled)
		f.Advance(time.Minute)
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		f.equal("StartBy", f.get(job).StartBy, f.now())
	})
	c.test("a StartBy that was not the due time stays", func(f *fixture) {
		at := f.now().Add(2 * time.Hour)
		job := f.enqueue(with(notBefore(f.now().Add(time.Hour)), startBy(at)))
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		f.equal("StartBy", f.get(job).StartBy, at)
	})
	c.test("a job that backs off keeps its place in the order", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		f.settle(again(job, time.Hour))
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		f.equal("StartBy", f.get(job).StartBy, job.StartBy)
	})
	c.test("it makes a job that backs off ready, with its failures", func(f *fixture) {
		job := f.running()
		f.settle(again(job, time.Hour))
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		claimed := f.claimThe(job, f.join())
		f.equal("Attempt", claimed.Attempt, 2)
		f.equal("Failures", claimed.Failures, 1)
	})
	c.test("a ready job stays as it is", func(f *fixture) {
		job := f.enqueue(plain())
		before := f.get(job)
		f.Advance(time.Minute)
		f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
		f.equal("the job", f.get(job), before)
	})
	c.test("other states conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).RunNow(f.ctx(), id) }, except(fairlead.Scheduled, fairlead.Ready)...)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).RunNow(f.ctx(), unknown), fairlead.ErrNotFound)
	})
}

func testSetPriority(c *chapter) {
	c.test("a ready job has it at once", func(f *fixture) {
		first, second := plain(), plain()
		f.enqueue(first, second)
		f.ok(operations(f.store).SetPriority(f.ctx(), second.ID, 5))
		f.equal("Priority", f.wantState(second, fairlead.Ready).Priority, 5)
		f.wantClaim(f.join(), everything(), second, first)
	})
	c.test("a scheduled job has it when it becomes ready", func(f *fixture) {
		now := f.now()
		first, second := with(notBefore(now.Add(time.Minute))), with(notBefore(now.Add(time.Minute)))
		f.enqueue(first, second)
		f.ok(operations(f.store).SetPriority(f.ctx(), first.ID, -5))
		f.equal("Priority", f.wantState(first, fairlead.Scheduled).Priority, -5)
		f.Advance(time.Minute)
		f.promote()
		f.wantClaim(f.join(), everything(), second, first)
	})
	for _, way := range []struct {
		name string
		back func(f *fixture, job *fairlead.Job)
	}{
		{"retried", func(f *fixture, job *fairlead.Job) { f.settle(again(job, 0)) }},
		{"given back", func(f *fixture, job *fairlead.Job) { f.settle(to(fairlead.MoveRelease, job)) }},
		{"reaped", func(f *fixture, job *fairlead.Job) { f.crash(job) }},
	} {
		c.test("a running job has it from its next attempt on, when "+way.name, func(f *fixture) {
			job := f.running()
			f.ok(operations(f.store).SetPriority(f.ctx(), job.ID, 5))
			f.equal("Fence", f.wantState(job, fairlead.Running).Fence, job.Fence)
			other := f.enqueue(with(priority(4)))
			way.back(f, job)
			claimed := f.wantClaim(f.join(), everything(), job, other)
			f.equal("Priority", claimed[0].Priority, 5)
		})
	}
	c.test("a waiting job has it from its next attempt on", func(f *fixture) {
		job := f.running()
		f.settle(wait(job))
		f.ok(operations(f.store).SetPriority(f.ctx(), job.ID, 5))
		f.wantState(job, fairlead.Waiting)
		other := f.enqueue(with(priority(4)))
		f.ok(f.store.Resolve(f.ctx(), again(job, time.Second)))
		f.Advance(time.Second)
		f.promote()
		f.wantClaim(f.join(), everything(), job, other)
	})
	c.test("finished jobs conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).SetPriority(f.ctx(), id, 5) }, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(operations(f.store).SetPriority(f.ctx(), unknown, 1), fairlead.ErrNotFound)
	})
}

func testDelete(c *chapter) {
	for _, state := range except(fairlead.Running, fairlead.Waiting) {
		c.test(named("a", state, "job is removed with all that is known of it"), func(f *fixture) {
			job := f.in(state, forever("k"))
			f.ok(operations(f.store).Delete(f.ctx(), job.ID))
			f.wantGone(job)
			f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
			f.Advance(2 * time.Hour)
			f.promote()
			f.wantClaim(f.join(), everything())
			f.wantFree("k")
		})
	}
	c.test("running and waiting jobs conflict", func(f *fixture) {
		f.forbids(func(id int64) error { return operations(f.store).Delete(f.ctx(), id) }, fairlead.Running, fairlead.Waiting)
	})
	c.test("an unknown job gets ErrNotFound, and so does one that is deleted", func(f *fixture) {
		f.wantErr(operations(f.store).Delete(f.ctx(), unknown), fairlead.ErrNotFound)
		job := f.enqueue(plain())
		f.ok(operations(f.store).Delete(f.ctx(), job.ID))
		f.wantErr(operations(f.store).Delete(f.ctx(), job.ID), fairlead.ErrNotFound)
	})
	testDeleteSeen(c)
}
