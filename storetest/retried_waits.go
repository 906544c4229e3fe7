package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// orRetry returns the settlement of a job that waits for an answer for an hour, with a
// retry after a pause on failure.
func orRetry(job *fairlead.Job, pause time.Duration) fairlead.Settlement {
	s := wait(job)
	s.Retry = &pause
	return s
}

// final turns an answer into a failure that ends the job.
func final(answer fairlead.Settlement) fairlead.Settlement {
	answer.Final = true
	return answer
}

// held returns the lease of a claimed job.
func held(job *fairlead.Job) driver.Held { return driver.Held{ID: job.ID, Fence: job.Fence} }

// waitingOrRetry returns a job that waits, with a retry after a pause on failure.
func (f *fixture) waitingOrRetry(pause time.Duration, changes ...func(*fairlead.Job)) *fairlead.Job {
	f.Helper()
	job := f.running(changes...)
	f.settle(orRetry(job, pause))
	return job
}

// testResolveRetried covers failed waits with a retry: source 004, briefing (retry policy)
// and API (onJobFail comes after the last retry).
func testResolveRetried(c *chapter) {
	c.test("Fail of a job whose Await had a Retry schedules its next attempt", func(f *fixture) {
		job := f.waitingOrRetry(time.Minute, keyed("k"), behind("g"))
		parked := f.enqueue(with(behind("g")))
		f.resolve(failure(job, "out of stock"))
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("NotBefore", found.NotBefore, f.now().Add(time.Minute))
		f.equal("Failures", found.Failures, 1)
		f.equal("Fence", found.Fence, int64(0))
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonError})
		f.equal("the error of its attempt", f.attempts(job)[0].Error, "out of stock")
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
		f.wantState(parked, fairlead.Parked)
		f.Advance(time.Minute)
		f.promote()
		second := f.claimThe(job, f.join())
		f.equal("Attempt of the next run", second.Attempt, 2)
		f.equal("the fence grows", second.Fence > job.Fence, true)
		f.settle(wait(second)) // no attempt is left
		f.resolve(failure(second, "out of stock"))
		f.equal("Failures at the end", f.wantState(job, fairlead.Failed).Failures, 2)
	})
	c.test("a Retry without a pause makes it ready at once", func(f *fixture) {
		job := f.waitingOrRetry(0)
		f.resolve(failure(job, "no"))
		f.wantState(job, fairlead.Ready)
		f.claimThe(job, f.join())
	})
	c.test("a Final failure ends it all the same", func(f *fixture) {
		job := f.waitingOrRetry(time.Minute, keyed("k"))
		f.resolve(final(failure(job, "hopeless")))
		found := f.wantState(job, fairlead.Failed)
		f.equal("Error", found.Error, "hopeless")
		f.equal("Failures", found.Failures, 1)
		f.wantFree("k")
		f.resolve(final(failure(job, "hopeless")))
	})
	c.test("a failure that overtakes the job's move to waiting is tried again as that move says", func(f *fixture) {
		retried, ended, unwanted := f.running(), f.running(), f.running()
		f.resolve(failure(retried, "no"))
		f.resolve(failure(retried, "no"))
		f.wantErr(f.store.Resolve(f.ctx(), final(failure(retried, "no"))), fairlead.ErrConflict)
		f.resolve(final(failure(ended, "hopeless")))
		f.resolve(failure(unwanted, "no"))
		f.ok(operations(f.store).Cancel(f.ctx(), unwanted.ID, "enough"))
		f.wantSettled([]fairlead.Settled{asAsked, asAsked, cancelled}, orRetry(retried, time.Minute), orRetry(ended, time.Minute), orRetry(unwanted, time.Minute))
		f.equal("NotBefore", f.wantState(retried, fairlead.Scheduled).NotBefore, f.now().Add(time.Minute))
		f.wantState(ended, fairlead.Failed)
		f.wantState(unwanted, fairlead.Cancelled)
	})
	c.test("the same failure again is fine, another answer for that run is not", func(f *fixture) {
		job := f.waitingOrRetry(time.Minute)
		f.resolve(failure(job, "no"))
		before := f.get(job)
		f.resolve(failure(job, "no"))
		for _, other := range []fairlead.Settlement{success(job, `1`), failure(job, "yes"), final(failure(job, "no"))} {
			f.wantErr(f.store.Resolve(f.ctx(), other), fairlead.ErrLeaseLost)
		}
		f.equal("the job", f.get(job), before)
		f.equal("the number of recorded attempts", len(f.attempts(job)), 1)
	})
}

// testExpireRetried covers missed deadlines with a retry: source 004, briefing (timeout,
// retry policy).
func testExpireRetried(c *chapter) {
	c.test("a missed deadline of a job whose Await had a Retry schedules its next attempt", func(f *fixture) {
		job := f.waitingOrRetry(time.Minute, keyed("k"), behind("g"))
		parked := f.enqueue(with(behind("g")))
		f.Advance(2 * time.Hour)
		f.equal("how many expire", f.expire(), 1)
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("NotBefore", found.NotBefore, f.now().Add(time.Minute))
		f.equal("Failures", found.Failures, 1)
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonDeadline})
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
		f.wantState(parked, fairlead.Parked)
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `1`)), fairlead.ErrExpired)
		f.Advance(time.Minute)
		f.promote()
		second := f.claimThe(job, f.join())
		f.equal("Attempt of the next run", second.Attempt, 2)
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `1`)), fairlead.ErrExpired)
		f.settle(wait(second)) // no attempt is left
		f.Advance(2 * time.Hour)
		f.equal("how many expire at the end", f.expire(), 1)
		f.equal("Failures at the end", f.wantState(job, fairlead.Failed).Failures, 2)
		f.wantState(parked, fairlead.Ready)
	})
	c.test("one without a pause is ready at once, and gives back what it held", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1})
		job := f.waitingOrRetry(0)
		f.wantUse(fairlead.LimitGlobal, "", 1)
		f.Advance(2 * time.Hour)
		f.equal("how many expire", f.expire(), 1)
		f.wantUse(fairlead.LimitGlobal, "", 0)
		f.wantState(job, fairlead.Ready)
		f.claimThe(job, f.join())
	})
	c.test("many at once retry each job once", func(f *fixture) {
		jobs := many(40)
		f.enqueue(jobs...)
		for _, job := range f.claim(f.join(), len(jobs)) {
			f.settle(orRetry(job, time.Minute))
		}
		f.Advance(2 * time.Hour)
		f.share(len(jobs), func(store Store) (int, error) { return expireOverdue(f.ctx(), store, 1000) })
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Scheduled: int64(len(jobs))})
		for _, job := range jobs {
			f.equal("Failures", f.get(job).Failures, 1)
		}
	})
}
