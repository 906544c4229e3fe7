package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// testBatches covers problems of size.
func testBatches(c *chapter) {
	c.long("stores twenty thousand jobs").test("Explain counts at most MaxAhead jobs that go first", func(f *fixture) {
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
		for i := range f.size(20, 520, "has more calendars than a tick looks at") {
			last = f.calendar(schedule.Calendar{Name: fmt.Sprint("c", i)})
		}
		f.plan("s", keeping(last), f.later)
		f.changeDays(last, "01-01")
		taken := 0
		for range 4 { // a tick may read only some of the schedules
			taken += f.tick(leave).Schedules
		}
		f.equal("how many were taken", taken, 1)
	})
	c.test("trap 23: ten thousand jobs go in one call, in order", func(f *fixture) {
		n := f.size(240, 10_000, "stores ten thousand jobs")
		jobs := many(n)
		for i, job := range jobs {
			job.Args = fmt.Appendf(nil, "%d", i)
			job.Tenant = fmt.Sprint("tenant ", i%7)
		}
		f.enqueue(jobs...)
		if list := ids(jobs); !slices.IsSorted(list) || len(slices.Compact(list)) != n {
			f.Fatal("the IDs do not ascend")
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: int64(n)})
		node := f.join()
		for next := 0; next < n; {
			claimed := f.claim(node, n/4)
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
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: int64(n)})
	})
	c.test("trap 23: ten thousand jobs for later are promoted in chunks", func(f *fixture) {
		n := f.size(250, 10_000, "stores ten thousand jobs")
		chunk := n * 2 / 5
		f.enqueue(many(n, notBefore(f.now().Add(time.Second)))...)
		f.Advance(time.Second)
		for left := n; left > 0; left -= chunk {
			promotion, err := f.store.Promote(f.ctx(), chunk)
			f.ok(err)
			f.equal("how many were moved", promotion.Moved, min(left, chunk))
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: int64(n)})
	})
	c.test("trap 23: a thousand keyed jobs go in one call", func(f *fixture) {
		jobs := many(f.size(100, 1000, "stores a thousand jobs"))
		for i, job := range jobs {
			job.Key = fmt.Sprint("key ", i)
		}
		f.enqueue(jobs...)
		last := jobs[len(jobs)-1]
		f.wantTaken(f.tryEnqueue(with(keyed(last.Key))), last)
	})
}

// testCallersTransactions covers trap 26: IDs and lanes that a caller's transaction took,
// and may roll back.
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
		n := f.size(140, 5000, "stores more jobs than a block has ids")
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
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: int64(2 * n)})
	})
	c.test("trap 26: two transactions enqueue to one new lane without waiting for each other", func(f *fixture) {
		one := f.begin()
		first := f.enqueueIn(one, with(newLane))
		if f.SerialWrites {
			f.wantSecondWaits(one, newLane)
			return
		}
		two := f.elsewhere().begin()
		second := f.enqueueIn(two, with(newLane)) // this call would hang if it waited
		third := f.enqueue(with(newLane))
		f.ok(two.Commit())
		f.ok(one.Commit())
		f.wantClaim(f.join(), everything(first.Kind), inTurn([]*fairlead.Job{f.get(first), f.get(second), f.get(third)})...)
	})
	c.test("trap 07: what an open transaction has locked does not hide or hold up the rest", func(f *fixture) {
		f.needs(OtherWriters)
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

// wantSecondWaits checks, for a database with a single writer, that a second enqueue to the
// lane waits for the first transaction and then succeeds.
func (f *fixture) wantSecondWaits(open Transaction, lane func(*fairlead.Job)) {
	f.Helper()
	job, done := normalized(with(lane)), make(chan error, 1)
	go func() { done <- f.store.Enqueue(f.ctx(), []*fairlead.Job{job}) }()
	f.ok(open.Commit())
	f.ok(<-done)
	f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 2})
}
