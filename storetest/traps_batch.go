package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// testBatches are mishaps of size.
func testBatches(c *chapter) {
	c.test("Explain counts at most MaxAhead jobs that go first", func(f *fixture) {
		f.joinIdle()
		f.enqueue(many(fairlead.MaxAhead-1, behind("g"))...)
		f.enqueue(many(fairlead.MaxAhead + 2)...)
		f.enqueue(many(3, inQueue("other"))...)
		f.enqueue(many(3, behind("g"))...)
		ready, parked := f.enqueue(plain()), f.enqueue(with(behind("g")))
		f.equal("those before one that is ready", f.explain(ready, fairlead.InLine).Ahead, fairlead.MaxAhead)
		f.equal("those before one that is parked", f.explain(parked, fairlead.AtGate, fairlead.InLine).Ahead, fairlead.MaxAhead)
	})
	c.test("of very many calendars the last that has changed is found", func(f *fixture) {
		var last schedule.Calendar
		for i := range 520 {
			last = f.calendar(schedule.Calendar{Name: fmt.Sprint("c", i)})
		}
		f.plan("s", keeping(last), f.later)
		f.changeDays(last, "01-01")
		taken := 0
		for range 4 { // a tick may look at some of them only
			taken += f.tick(leave).Schedules
		}
		f.equal("how many were taken", taken, 1)
	})
	c.test("trap 23: ten thousand jobs go in one call, in order", func(f *fixture) {
		const n = 10_000
		jobs := many(n)
		for i, job := range jobs {
			job.Args = fmt.Appendf(nil, "%d", i)
			job.Tenant = fmt.Sprint("tenant ", i%7)
		}
		f.enqueue(jobs...)
		if list := ids(jobs); !slices.IsSorted(list) || len(slices.Compact(list)) != n {
			f.Fatal("the IDs do not ascend")
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: n})
		node := f.join()
		for next := 0; next < n; {
			claimed := f.claim(node, 2500)
			var settlements []fairlead.Settlement
			for _, job := range claimed {
				if want := fmt.Sprint(next); string(job.Args) != want {
					f.Fatalf("claimed the job with args %s, want %s", job.Args, want)
				}
				settlements = append(settlements, to(fairlead.Succeed, job))
				next++
			}
			if len(claimed) == 0 {
				f.Fatalf("%d jobs are missing", n-next)
			}
			f.settle(settlements...)
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: n})
	})
	c.test("trap 23: ten thousand jobs for later are promoted in chunks", func(f *fixture) {
		const n = 10_000
		f.enqueue(many(n, notBefore(f.now().Add(time.Second)))...)
		f.Advance(time.Second)
		for left := n; left > 0; left -= 4000 {
			promotion, err := f.store.Promote(f.ctx(), 4000)
			f.ok(err)
			f.equal("how many were moved", promotion.Moved, min(left, 4000))
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: n})
	})
	c.test("trap 23: a thousand keyed jobs go in one call", func(f *fixture) {
		jobs := many(1000)
		for i, job := range jobs {
			job.Key = fmt.Sprint("key ", i)
		}
		f.enqueue(jobs...)
		f.wantTaken(f.tryEnqueue(with(keyed("key 999"))), jobs[999])
	})
}

// testCallersTransactions is trap 26: ids and lanes that a caller's transaction
// took, and may roll back.
func testCallersTransactions(c *chapter) {
	newLane := func(j *fairlead.Job) { j.Kind, j.Tenant = "lane of a transaction", "tenant of a transaction" }
	c.test("trap 26: after a rollback the store still works with the ids and lanes it knows", func(f *fixture) {
		for range 3 {
			tx := f.begin()
			lost := f.enqueueIn(tx, with(newLane), with(newLane, keyed("k")))
			f.ok(tx.Rollback())
			f.wantGone(lost)
			kept := f.enqueue(with(newLane), with(newLane, keyed("k")))
			found := f.elsewhere().get(kept)
			f.equal("the lane", []string{found.Kind, found.Tenant}, []string{kept.Kind, kept.Tenant})
			claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(kept.Kind), Max: 10})
			f.equal("how many are claimed", len(claimed), 2)
			f.settle(to(fairlead.Succeed, claimed[0]), to(fairlead.Succeed, claimed[1]))
		}
		if jobs := f.find(fairlead.Filter{}); len(jobs) != 6 {
			f.Fatalf("there are %d jobs, want 6", len(jobs))
		}
	})
	c.test("trap 26: a lane first used in a transaction is known to all after the commit", func(f *fixture) {
		tx := f.begin()
		job := f.enqueueIn(tx, with(newLane))
		f.ok(tx.Commit())
		f.wantClaim(f.join(), everything(job.Kind), job)
		f.equal("the lane", f.elsewhere().get(job).Kind, job.Kind)
	})
	c.test("trap 26: a transaction with more jobs than a block has ids", func(f *fixture) {
		const n = 5000
		for _, commits := range []bool{false, true} {
			tx, jobs := f.begin(), many(n)
			f.enqueueIn(tx, jobs...)
			if !commits {
				f.ok(tx.Rollback())
				f.enqueue(many(n)...)
				continue
			}
			f.ok(tx.Commit())
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 2 * n})
	})
	c.test("trap 26: two transactions enqueue to one new lane without waiting for each other", func(f *fixture) {
		one := f.begin()
		first := f.enqueueIn(one, with(newLane))
		if f.SerialWrites {
			f.wantSecondWaits(one, newLane)
			return
		}
		two := f.elsewhere().begin()
		second := f.enqueueIn(two, with(newLane)) // would hang if it waited
		third := f.enqueue(with(newLane))
		f.ok(two.Commit())
		f.ok(one.Commit())
		f.wantClaim(f.join(), everything(first.Kind), inTurn([]*fairlead.Job{f.get(first), f.get(second), f.get(third)})...)
	})
	c.test("trap 07: what an open transaction has locked does not hide or hold up the rest", func(f *fixture) {
		if f.SerialWrites {
			f.Skip("every other write waits, by design")
		}
		locked, free := f.running(), f.running(inQueue("other"))
		next := f.enqueue(plain())
		tx := f.begin()
		f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, locked))
		f.settle(to(fairlead.Succeed, free))
		f.claimThe(next, f.join())
		f.wishes(locked.Node)
		f.reap()
		f.promote()
		f.wantState(locked, fairlead.Running)
		f.ok(tx.Commit())
		f.wantState(locked, fairlead.Succeeded)
	})
}

// wantSecondWaits expects, of a database with one writer, that a second
// enqueue to the lane waits for the first transaction and then goes through.
func (f *fixture) wantSecondWaits(open Transaction, lane func(*fairlead.Job)) {
	f.Helper()
	job, done := normalized(with(lane)), make(chan error, 1)
	go func() { done <- f.store.Enqueue(f.ctx(), []*fairlead.Job{job}) }()
	f.ok(open.Commit())
	f.ok(<-done)
	f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 2})
}
