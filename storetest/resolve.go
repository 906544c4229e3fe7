package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// success returns a target's answer that the job succeeded.
func success(job *fairlead.Job, output string) fairlead.Settlement {
	answer := to(fairlead.Succeed, job)
	answer.Output = json.RawMessage(output)
	return answer
}

// failure returns a target's answer that the job failed.
func failure(job *fairlead.Job, text string) fairlead.Settlement {
	answer := to(fairlead.Fail, job)
	answer.Reason, answer.Error = fairlead.ReasonError, text
	return answer
}

func (f *fixture) resolve(answer fairlead.Settlement) {
	f.Helper()
	f.ok(f.store.Resolve(f.ctx(), answer))
}

func testResolve(c *chapter) {
	c.test("Memo and Progress of an answer are kept, also of one that came early", func(f *fixture) {
		for _, early := range []bool{false, true} {
			job := f.running()
			answer := again(job, 0)
			answer.Memo, answer.Progress = json.RawMessage(`{"page": 3}`), json.RawMessage(`"half"`)
			if early {
				f.resolve(answer)
			}
			f.settle(wait(job))
			if !early {
				f.resolve(answer)
			}
			found := f.wantState(job, fairlead.Ready)
			f.equal("Memo", string(found.Memo), `{"page": 3}`)
			f.equal("Progress", string(found.Progress), `"half"`)
			f.ok(operations(f.store).Delete(f.ctx(), job.ID))
		}
	})
	c.test("Succeed ends a waiting job as succeeded, with its output", func(f *fixture) {
		job := f.in(fairlead.Waiting, keyed("k"))
		f.Advance(time.Minute)
		f.resolve(success(job, `{"ok": 1}`))
		found := f.wantState(job, fairlead.Succeeded)
		f.equal("Output", string(found.Output), `{"ok": 1}`)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("Fence", found.Fence, job.Fence)
		f.wantFree("k")
	})
	c.test("Fail ends a waiting job as failed and records the attempt", func(f *fixture) {
		job := f.in(fairlead.Waiting, keyed("k"))
		f.resolve(failure(job, "refused"))
		found := f.wantState(job, fairlead.Failed)
		f.equal("Reason", found.Reason, fairlead.ReasonError)
		f.equal("Error", found.Error, "refused")
		f.equal("Failures", found.Failures, 1)
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonError})
		f.wantFree("k")
	})
	c.test("Again schedules the next attempt of a waiting job", func(f *fixture) {
		job := f.running(keyed("k"))
		f.settle(wait(job))
		f.resolve(again(job, time.Minute))
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("NotBefore", found.NotBefore, f.now().Add(time.Minute))
		f.equal("Failures", found.Failures, 1)
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonError})
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
		f.Advance(time.Minute)
		f.promote()
		f.equal("Attempt of the next run", f.claimThe(job, f.join()).Attempt, 2)
	})
	c.test("Again without a pause makes a waiting job ready at once", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.resolve(again(job, 0))
		f.wantState(job, fairlead.Ready)
	})
	c.test("a fence that is not the job's gets ErrLeaseLost", func(f *fixture) {
		waiting, running, scheduled := f.in(fairlead.Waiting), f.in(fairlead.Running), f.in(fairlead.Scheduled)
		ended := f.in(fairlead.Succeeded)
		for _, job := range []*fairlead.Job{waiting, running, ended, scheduled} {
			before := f.get(job)
			answer := success(job, `1`)
			answer.Fence = job.Fence + 1000
			f.wantErr(f.store.Resolve(f.ctx(), answer), fairlead.ErrLeaseLost)
			f.equal("the job", f.get(job), before)
		}
		f.resolve(success(waiting, `1`))
	})
	c.test("the fence of an earlier run gets ErrLeaseLost", func(f *fixture) {
		first := f.running()
		f.settle(again(first, 0))
		second := f.claimThe(first, f.join())
		f.settle(wait(second))
		f.wantErr(f.store.Resolve(f.ctx(), success(first, `1`)), fairlead.ErrLeaseLost)
		f.wantState(second, fairlead.Waiting)
	})
	c.test("an unknown job gets ErrNotFound", func(f *fixture) {
		f.wantErr(f.store.Resolve(f.ctx(), fairlead.Settlement{ID: unknown, Fence: 1, Move: fairlead.Succeed}), fairlead.ErrNotFound)
	})
	testResolveEarly(c)
	testResolveLate(c)
	testResolveRetried(c)
}

// testResolveEarly covers answers that arrive before the job moves to waiting.
func testResolveEarly(c *chapter) {
	c.test("a success that overtakes the job's move to waiting is kept and consumed by it", func(f *fixture) {
		job := f.running(keyed("k"))
		f.resolve(success(job, `"early"`))
		f.wantState(job, fairlead.Running)
		f.Advance(time.Minute)
		f.settle(wait(job))
		found := f.wantState(job, fairlead.Succeeded)
		f.equal("Output", string(found.Output), `"early"`)
		f.equal("Fence", found.Fence, job.Fence)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.wantFree("k")
	})
	c.test("a failure that overtakes the job's move to waiting is kept and consumed by it", func(f *fixture) {
		job := f.running()
		f.resolve(failure(job, "refused"))
		f.settle(wait(job))
		found := f.wantState(job, fairlead.Failed)
		f.equal("Error", found.Error, "refused")
		f.equal("Failures", found.Failures, 1)
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonError})
	})
	c.test("a retry that overtakes the job's move to waiting is kept and consumed by it", func(f *fixture) {
		job := f.running()
		f.resolve(again(job, time.Minute))
		f.settle(wait(job))
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("Failures", found.Failures, 1)
	})
	c.test("an early answer can be repeated but not contradicted", func(f *fixture) {
		job := f.running()
		f.resolve(success(job, `1`))
		f.resolve(success(job, `1`))
		f.wantErr(f.store.Resolve(f.ctx(), failure(job, "no")), fairlead.ErrConflict)
		f.settle(wait(job))
		f.wantState(job, fairlead.Succeeded)
		f.resolve(success(job, `1`))
	})
	c.test("an early answer can be repeated though its text was changed to be stored", func(f *fixture) {
		for _, text := range []string{strings.Repeat("\x00", 3000), strings.Repeat("語", 3000), strings.Repeat("\xff", 9000)} {
			failed, retried := f.running(), f.running()
			retry := again(retried, time.Minute)
			retry.Error = text
			for range 2 {
				f.resolve(failure(failed, text))
				f.resolve(retry)
			}
			f.settle(wait(failed), wait(retried))
			f.wantState(failed, fairlead.Failed)
			f.wantState(retried, fairlead.Scheduled)
			f.resolve(failure(failed, text))
			f.resolve(retry)
		}
	})
	c.test("the pause of an early retry counts from the move to waiting", func(f *fixture) {
		job := f.running()
		f.resolve(again(job, time.Minute))
		f.Advance(10 * time.Second)
		f.settle(wait(job))
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, f.now().Add(time.Minute))
	})
	c.test("an early success counts even if somebody asked to cancel, an early retry does not", func(f *fixture) {
		won, again := f.in(fairlead.Running), again(f.in(fairlead.Running), time.Minute)
		f.resolve(success(won, `1`))
		f.resolve(again)
		retried := &fairlead.Job{ID: again.ID}
		f.ok(operations(f.store).Cancel(f.ctx(), won.ID, "enough"))
		f.ok(operations(f.store).Cancel(f.ctx(), again.ID, "enough"))
		f.wantSettled([]fairlead.Settled{asAsked, cancelled}, wait(won), fairlead.Settlement{ID: again.ID, Fence: again.Fence, Move: fairlead.MoveAwait, After: time.Hour})
		f.wantState(won, fairlead.Succeeded)
		f.wantState(retried, fairlead.Cancelled)
	})
	c.test("an early answer is void if the handler decides otherwise", func(f *fixture) {
		job := f.running()
		f.resolve(success(job, `"early"`))
		f.settle(again(job, 0))
		f.wantState(job, fairlead.Ready)
		second := f.claimThe(job, f.join())
		f.settle(wait(second))
		f.wantState(job, fairlead.Waiting)
	})
	c.test("an early answer is void if the node dies", func(f *fixture) {
		job := f.running()
		f.resolve(success(job, `"early"`))
		f.crash(job)
		f.settle(wait(f.claimThe(job, f.join())))
		f.wantState(job, fairlead.Waiting)
	})
}

// testResolveLate covers answers that arrive late or twice.
func testResolveLate(c *chapter) {
	c.test("after the deadline it gets ErrExpired, whether or not the job was expired", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(time.Hour + time.Microsecond)
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `1`)), fairlead.ErrExpired)
		f.wantState(job, fairlead.Waiting)
		_, err := expireOverdue(f.ctx(), f.store, 10)
		f.ok(err)
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `1`)), fairlead.ErrExpired)
		f.wantErr(f.store.Resolve(f.ctx(), failure(job, "no")), fairlead.ErrExpired)
		f.wantState(job, fairlead.Failed)
	})
	c.test("at the deadline itself either the answer or Expire comes too late", func(f *fixture) {
		one, two := f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		f.Advance(time.Hour)
		err := f.store.Resolve(f.ctx(), success(one, `1`))
		if err != nil {
			f.wantErr(err, fairlead.ErrExpired)
		}
		_, expire := expireOverdue(f.ctx(), f.store, 10)
		f.ok(expire)
		inTime := err == nil
		f.equal("the other is not expired", f.get(two).State == fairlead.Waiting, inTime)
	})
	c.test("until the deadline it is in time", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(time.Hour - time.Microsecond)
		f.resolve(success(job, `1`))
	})
	c.test("the same answer again is fine, also after the deadline", func(f *fixture) {
		won, failed := f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		for range 2 {
			f.resolve(success(won, `{"n": 1}`))
			f.resolve(failure(failed, "refused"))
			f.Advance(2 * time.Hour)
		}
		f.equal("the number of recorded attempts", len(f.attempts(failed)), 1)
	})
	c.test("the same retry again is fine too", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.resolve(again(job, time.Minute))
		before := f.get(job)
		f.resolve(again(job, time.Minute))
		f.equal("the job", f.get(job), before)
		f.equal("the number of recorded attempts", len(f.attempts(job)), 1)
	})
	c.test("so it is while the job runs again, waits again or has ended", func(f *fixture) {
		first := f.in(fairlead.Waiting)
		f.resolve(again(first, 0))
		second := f.claimThe(first, f.join())
		f.resolve(again(first, 0))
		f.settle(wait(second))
		f.resolve(again(first, 0))
		f.resolve(success(second, `1`))
		f.resolve(again(first, 0))
		f.wantState(first, fairlead.Succeeded)
		f.equal("the number of recorded attempts", len(f.attempts(first)), 1)
	})
	c.test("a retry that ended another lease is not the same retry", func(f *fixture) {
		first := f.running()
		f.settle(again(first, 0))
		second := f.claimThe(first, f.join())
		f.settle(to(fairlead.MoveRelease, second)) // this attempt is not recorded
		f.wantErr(f.store.Resolve(f.ctx(), again(second, 0)), fairlead.ErrLeaseLost)
		f.resolve(again(first, 0))
		f.equal("the number of recorded attempts", len(f.attempts(first)), 1)
	})
	c.test("nor is one that ended the lease of another job which was claimed with it", func(f *fixture) {
		f.enqueue(many(2)...)
		jobs := f.claim(f.join(), 2)
		f.settle(again(jobs[0], 0), to(fairlead.MoveRelease, jobs[1]))
		f.wantErr(f.store.Resolve(f.ctx(), again(jobs[1], 0)), fairlead.ErrLeaseLost)
		f.resolve(again(jobs[0], 0))
	})
	c.test("a different answer conflicts and changes nothing", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.resolve(success(job, `1`))
		before := f.get(job)
		f.wantErr(f.store.Resolve(f.ctx(), failure(job, "no")), fairlead.ErrConflict)
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `2`)), fairlead.ErrConflict)
		f.wantErr(f.store.Resolve(f.ctx(), again(job, 0)), fairlead.ErrConflict)
		f.equal("the job", f.get(job), before)
	})
	c.test("a job that was cancelled while it waited conflicts", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.wantErr(f.store.Resolve(f.ctx(), success(job, `1`)), fairlead.ErrConflict)
		f.wantState(job, fairlead.Cancelled)
	})
	c.test("a job that was cancelled instead of the retry that was asked for conflicts", func(f *fixture) {
		job := f.running()
		f.resolve(again(job, time.Minute))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.wantSettled([]fairlead.Settled{cancelled}, wait(job))
		f.wantErr(f.store.Resolve(f.ctx(), again(job, time.Minute)), fairlead.ErrConflict)
		f.wantState(job, fairlead.Cancelled)
	})
	c.test("of many different answers at once exactly one counts", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		answers := []fairlead.Settlement{success(job, `1`), failure(job, "no")}
		errs := f.rivals(6, func(i int, store Store) error { return store.Resolve(f.ctx(), answers[i%2]) })
		winner := 0
		if f.get(job).State == fairlead.Failed {
			winner = 1
		}
		for i, err := range errs {
			if i%2 == winner {
				f.ok(err)
			} else {
				f.wantErr(err, fairlead.ErrConflict)
			}
		}
	})
}
