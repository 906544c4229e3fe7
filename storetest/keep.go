package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testPromote(c *chapter) {
	c.test("due scheduled jobs become ready", func(f *fixture) {
		now := f.now()
		due, exact, later := with(notBefore(now.Add(time.Minute))), with(notBefore(now.Add(time.Hour))), with(notBefore(now.Add(time.Hour+time.Microsecond)))
		f.enqueue(due, exact, later)
		f.equal("the promotion before", f.promote(), driver.Promotion{Next: time.Minute})
		f.Advance(time.Hour)
		f.equal("the promotion", f.promote(), driver.Promotion{Moved: 2, Next: time.Microsecond})
		f.wantState(due, fairlead.Ready)
		f.wantState(exact, fairlead.Ready)
		f.wantState(later, fairlead.Scheduled)
	})
	c.test("at most limit are moved, earliest first", func(f *fixture) {
		now := f.now()
		third, first, second := with(notBefore(now.Add(3*time.Second))), with(notBefore(now.Add(time.Second))), with(notBefore(now.Add(2*time.Second)))
		f.enqueue(third, first, second)
		f.Advance(time.Minute)
		promotion, err := f.store.Promote(f.ctx(), 2)
		f.ok(err)
		f.equal("the promotion", promotion, driver.Promotion{Moved: 2, Next: 0})
		f.wantState(first, fairlead.Ready)
		f.wantState(second, fairlead.Ready)
		f.wantState(third, fairlead.Scheduled)
	})
	c.test("Next tells how long it is until the next is due", func(f *fixture) {
		f.enqueue(with(notBefore(f.now().Add(time.Hour))), with(notBefore(f.now().Add(10*time.Second))))
		f.equal("the promotion", f.promote(), driver.Promotion{Next: 10 * time.Second})
		f.Advance(4 * time.Second)
		f.equal("the promotion", f.promote(), driver.Promotion{Next: 6 * time.Second})
	})
	c.test("Next is negative if nothing is scheduled", func(f *fixture) {
		f.enqueue(plain())
		promotion := f.promote()
		if promotion.Moved != 0 || promotion.Next >= 0 {
			f.Fatalf("the promotion of nothing is %+v", promotion)
		}
	})
	c.test("attempts, failures and crashes stay", func(f *fixture) {
		job := f.enqueue(plain())
		f.crash(f.claimThe(job, f.join()))
		f.settle(again(f.claimThe(job, f.join()), time.Second))
		f.Advance(time.Second)
		f.promote()
		found := f.wantState(job, fairlead.Ready)
		f.equal("Attempt", found.Attempt, 2)
		f.equal("Failures", found.Failures, 1)
		f.equal("Crashes", found.Crashes, 1)
	})
	c.test("many at once move each job once", func(f *fixture) {
		jobs := many(80, notBefore(f.now().Add(time.Second)))
		f.enqueue(jobs...)
		f.Advance(time.Second)
		f.share(len(jobs), func(store Store) (int, error) {
			promotion, err := store.Promote(f.ctx(), 1000)
			return promotion.Moved, err
		})
		f.wantClaim(f.join(), everything(), jobs...)
	})
}

func testExpire(c *chapter) {
	expire := func(f *fixture, limit int) int {
		f.Helper()
		n, err := expireOverdue(f.ctx(), f.store, limit)
		f.ok(err)
		return n
	}
	c.test("a waiting job whose deadline has passed fails with ReasonDeadline", func(f *fixture) {
		job := f.in(fairlead.Waiting, keyed("k"))
		f.Advance(time.Hour - time.Microsecond)
		f.equal("how many expire before", expire(f, 10), 0)
		f.Advance(2 * time.Microsecond)
		f.equal("how many expire", expire(f, 10), 1)
		found := f.wantState(job, fairlead.Failed)
		f.equal("Reason", found.Reason, fairlead.ReasonDeadline)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("Fence", found.Fence, job.Fence)
		f.equal("how many expire after", expire(f, 10), 0)
		f.wantFree("k")
	})
	c.test("the missed deadline is a failure and recorded as an attempt", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.Advance(2 * time.Hour)
		expire(f, 10)
		f.equal("Failures", f.get(job).Failures, 1)
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonDeadline})
	})
	testExpireRetried(c)
	c.test("Overdue lists whose deadline has passed, the first deadline first, and changes nothing", func(f *fixture) {
		late := f.in(fairlead.Waiting)
		f.Advance(time.Minute)
		later, inTime := f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		_, err := f.store.Extend(f.ctx(), extension(inTime, 10*time.Hour, ``))
		f.ok(err)
		f.Advance(2 * time.Hour)
		for limit, want := range map[int][]driver.Held{0: nil, 1: {held(late)}, 10: {held(late), held(later)}} {
			overdue, err := f.store.Overdue(f.ctx(), limit)
			f.ok(err)
			f.equal(fmt.Sprintf("at most %d overdue", limit), overdue, want)
		}
		f.wantState(late, fairlead.Waiting)
	})
	c.test("a job that has moved, or waits under another fence, is not expired", func(f *fixture) {
		answered, cancelled, extended := f.in(fairlead.Waiting), f.in(fairlead.Waiting), f.in(fairlead.Waiting)
		f.resolve(success(answered, `1`))
		f.ok(operations(f.store).Cancel(f.ctx(), cancelled.ID, "enough"))
		f.Advance(time.Minute)
		_, err := f.store.Extend(f.ctx(), extension(extended, 10*time.Hour, ``))
		f.ok(err)
		other := f.in(fairlead.Waiting)
		f.Advance(2 * time.Hour)
		n, err := f.store.Expire(f.ctx(), []driver.Held{held(answered), held(cancelled), held(extended), {ID: other.ID, Fence: other.Fence + 1}, {ID: unknown, Fence: 1}})
		f.ok(err)
		f.equal("how many expire", n, 0)
		f.wantState(extended, fairlead.Waiting)
		f.wantState(other, fairlead.Waiting)
	})
	c.test("at most limit expire", func(f *fixture) {
		for range 3 {
			f.in(fairlead.Waiting)
		}
		f.Advance(2 * time.Hour)
		f.equal("how many expire", []int{expire(f, 2), expire(f, 2), expire(f, 2)}, []int{2, 1, 0})
	})
	c.test("many at once fail each job once", func(f *fixture) {
		jobs := many(40)
		f.enqueue(jobs...)
		for _, job := range f.claim(f.join(), len(jobs)) {
			f.settle(wait(job))
		}
		f.Advance(2 * time.Hour)
		f.share(len(jobs), func(store Store) (int, error) { return expireOverdue(f.ctx(), store, 1000) })
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Failed: int64(len(jobs))})
	})
	c.test("jobs that are not waiting never expire", func(f *fixture) {
		for _, state := range except(fairlead.Waiting) {
			f.in(state)
		}
		before := f.tally(fairlead.Filter{})
		f.Advance(1000 * time.Hour)
		f.equal("how many expire", expire(f, 10), 0)
		f.equal("the tally", f.tally(fairlead.Filter{}), before)
	})
}

func testPrune(c *chapter) {
	all := driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}
	prune := func(f *fixture, keep driver.Retention, limit int) int {
		f.Helper()
		n, err := f.store.Prune(f.ctx(), keep, limit)
		f.ok(err)
		return n
	}
	for _, state := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled} {
		c.test(named("a", state, "job older than its retention is removed with all that is known of it"), func(f *fixture) {
			job := f.in(state)
			f.Advance(time.Hour - time.Microsecond)
			f.equal("how many are removed before", prune(f, all, 10), 0)
			f.Advance(2 * time.Microsecond)
			f.equal("how many are removed", prune(f, all, 10), 1)
			f.wantGone(job)
			f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
		})
	}
	c.test("each outcome has its own retention, and zero keeps forever", func(f *fixture) {
		succeeded, failed, dropped := f.in(fairlead.Succeeded), f.in(fairlead.Failed), f.in(fairlead.Cancelled)
		f.Advance(10_000 * time.Hour)
		f.equal("how many are removed without retention", prune(f, driver.Retention{}, 10), 0)
		f.equal("how many are removed", prune(f, driver.Retention{Succeeded: time.Hour, Failed: 20_000 * time.Hour}, 10), 1)
		f.wantGone(succeeded)
		f.wantState(failed, fairlead.Failed)
		f.wantState(dropped, fairlead.Cancelled)
	})
	c.test("live jobs are never removed", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting} {
			f.in(state)
		}
		before := f.tally(fairlead.Filter{})
		f.Advance(10_000 * time.Hour)
		f.equal("how many are removed", prune(f, all, 10), 0)
		f.equal("the tally", f.tally(fairlead.Filter{}), before)
	})
	c.test("at most limit are removed", func(f *fixture) {
		for range 5 {
			f.in(fairlead.Cancelled)
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", []int{prune(f, all, 2), prune(f, all, 2), prune(f, all, 2), prune(f, all, 2)}, []int{2, 2, 1, 0})
	})
	c.test("limit counts all outcomes together", func(f *fixture) {
		for range 2 {
			f.in(fairlead.Succeeded)
			f.in(fairlead.Failed)
			f.in(fairlead.Cancelled)
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", []int{prune(f, all, 3), prune(f, all, 5), prune(f, all, 5)}, []int{3, 3, 0})
	})
	c.test("successes that are old go, however many younger ones with smaller ids there are", func(f *fixture) {
		young := f.size(250, 4001, "keeps more jobs than a call of Prune looks at")
		f.enqueue(many(young)...)
		old := f.enqueue(with(inQueue("early")))
		f.settle(to(fairlead.Succeed, f.claimAs(driver.Claim{Node: f.join(), Scope: &driver.Scope{Kinds: everything().Kinds, Queues: []string{"early"}}, Max: 1})[0]))
		f.Advance(2 * time.Hour)
		var late []fairlead.Settlement
		for _, job := range f.claim(f.join(), young) {
			late = append(late, to(fairlead.Succeed, job))
		}
		f.settle(late...)
		f.equal("how many are removed", []int{prune(f, all, 10), prune(f, all, 10)}, []int{1, 0})
		f.wantGone(old)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: int64(young)})
	})
	c.test("many at once remove each job once", func(f *fixture) {
		jobs := many(f.size(20, 60, "removes more jobs at once"))
		f.enqueue(jobs...)
		for _, job := range jobs {
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		}
		f.Advance(2 * time.Hour)
		f.share(len(jobs), func(store Store) (int, error) { return store.Prune(f.ctx(), all, 1000) })
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
	})
	c.test("a reopened job starts its retention anew", func(f *fixture) {
		job := f.in(fairlead.Failed)
		f.Advance(2 * time.Hour)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.settle(to(fairlead.Fail, f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1})[0]))
		f.equal("how many are removed", prune(f, all, 10), 0)
		f.wantState(job, fairlead.Failed)
	})
	c.test("limits that are set stay, whatever they limit", func(f *fixture) {
		for _, limit := range []fairlead.Limit{
			{Scope: fairlead.LimitKind, Name: "capped", MaxRunning: 1},
			{Scope: fairlead.LimitKind, Name: "rated", Rate: 1, Burst: 1},
			{Scope: fairlead.LimitKind, Name: "gated", PerKey: 2},
		} {
			f.limit(limit)
		}
		tenant := f.declare(fairlead.Tenant{Name: "acme", MinRunning: 1})
		before, err := f.store.Limits(f.ctx())
		f.ok(err)
		prune(f, all, 10)
		f.equal("a tenant", f.tenant("acme"), tenant)
		after, err := f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits", after, before)
		f.equal("whether there are any", len(after) > 0, true)
	})
	c.test("long dead nodes are forgotten, others are not", func(f *fixture) {
		long := f.join()
		f.ok(f.store.Leave(f.ctx(), long))
		f.Advance(48 * time.Hour)
		alive, fresh := f.running().Node, f.join() // a node that runs a job does not make the store keep others
		f.ok(f.store.Leave(f.ctx(), fresh))
		prune(f, all, 10)
		for id, want := range map[fairlead.NodeID]bool{long: false, alive: true, fresh: true} {
			_, found := f.node(id)
			f.equal("the node is listed", found, want)
		}
	})
	c.test("what a forgotten node held can still be reaped", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.Advance(48 * time.Hour)
		prune(f, all, 10)
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1})
		f.wantState(job, fairlead.Ready)
	})
}
