package storetest

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testTraps covers problems that can be described as a sequence of steps. The numbers refer
// to the project's list of traps; missing ones concern the engine or parts without a store.
func testTraps(c *chapter) {
	c.test("trap 01: a node finds and gives back the jobs of a claim whose answer was lost", func(f *fixture) {
		jobs, node := many(3), f.join()
		f.enqueue(jobs...)
		f.claim(node, 3) // the response is lost
		var settlements []fairlead.Settlement
		for _, held := range f.held(node) {
			settlements = append(settlements, fairlead.Settlement{ID: held.ID, Fence: held.Fence, Move: fairlead.MoveRelease})
		}
		f.settle(settlements...)
		for _, job := range f.wantClaim(node, everything(), jobs...) {
			f.equal("Attempt", job.Attempt, 1)
		}
	})
	c.test("trap 02: a finish whose answer was lost is repeated with success", func(f *fixture) {
		job := f.running()
		f.settle(success(job, `1`)) // the response is lost
		f.crash(job)
		f.settle(success(job, `1`))
		f.equal("Output", string(f.wantState(job, fairlead.Succeeded).Output), `1`)
	})
	c.test("trap 03: a late finisher is refused and the rest of its flush goes through", func(f *fixture) {
		job, other := f.running(), f.running(inQueue("other"))
		timeout := again(job, time.Minute)
		timeout.Reason = fairlead.ReasonTimeout
		f.settle(timeout)
		f.wantSettled([]fairlead.Settled{asAsked, lost}, to(fairlead.Succeed, other), to(fairlead.Succeed, job))
		f.wantState(job, fairlead.Scheduled)
		f.wantState(other, fairlead.Succeeded)
	})
	c.test("trap 06: after an outage nothing is taken back until somebody reaps, and what is done is kept", func(f *fixture) {
		job, other := f.enqueue(plain()), f.enqueue(plain())
		one, two := f.claimThe(job, f.joinFor(time.Second)), f.claimThe(other, f.joinFor(time.Second))
		f.Advance(30 * time.Second)
		f.settle(to(fairlead.Succeed, one))
		f.equal("what is still held", f.held(two.Node), []driver.Held{{ID: two.ID, Fence: two.Fence}})
	})
	c.test("trap 09: a wish to cancel is not lost when the attempt fails by itself", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.wantSettled([]fairlead.Settled{cancelled}, again(job, 0))
		f.wantClaim(f.join(), everything())
	})
	c.test("trap 09: a wish to cancel does not outlive the run it was meant for", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.settle(to(fairlead.Fail, job))
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		second := f.claimThe(job, f.join())
		f.equal("CancelWish", f.get(job).CancelWish, false)
		f.equal("what its node hears", f.wishes(second.Node), []driver.Held(nil))
		f.settle(again(second, 0))
		f.wantState(job, fairlead.Ready)
	})
	c.test("trap 11: a callback that comes before the job waits is not lost", func(f *fixture) {
		job, g := f.running(), f.elsewhere()
		g.resolve(success(job, `"quick"`))
		f.settle(wait(job))
		f.equal("Output", string(f.wantState(job, fairlead.Succeeded).Output), `"quick"`)
	})
	c.test("trap 12: leases and due times count from the database's now", func(f *fixture) {
		f.Advance(10_000 * time.Hour) // so that it differs from the clock of this process
		now, job := f.now(), f.enqueue(plain())
		claimed := f.claimThe(job, f.joinFor(time.Minute))
		node, _ := f.node(claimed.Node)
		f.equal("Until", node.Until, now.Add(time.Minute))
		f.equal("StartedAt", claimed.StartedAt, now)
		f.settle(again(claimed, time.Minute))
		f.equal("NotBefore", f.get(job).NotBefore, now.Add(time.Minute))
		f.equal("FinishedAt", f.attempts(job)[0].FinishedAt, now)
	})
	c.test("trap 15: a job whose place in the order was changed can still be found, moved and removed", func(f *fixture) {
		for _, change := range []func(id int64) error{
			func(id int64) error { return operations(f.store).SetPriority(f.ctx(), id, 7) },
			func(id int64) error { return operations(f.store).Reschedule(f.ctx(), id, f.now().Add(-time.Hour)) },
		} {
			jobs := many(4)
			f.enqueue(jobs...)
			for _, job := range jobs {
				f.ok(change(job.ID))
				f.wantState(job, fairlead.Ready)
				f.ok(operations(f.store).SetPriority(f.ctx(), job.ID, 8))
				f.ok(operations(f.store).RunNow(f.ctx(), job.ID))
				f.equal("the job by its ID", ids(f.find(fairlead.Filter{IDs: []int64{job.ID}})), []int64{job.ID})
			}
			f.ok(operations(f.store).Cancel(f.ctx(), jobs[0].ID, ""))
			f.ok(operations(f.store).Delete(f.ctx(), jobs[1].ID))
			f.ok(operations(f.store).Reschedule(f.ctx(), jobs[2].ID, f.now().Add(time.Hour)))
			f.claimThe(jobs[3], f.join())
			f.wantClaim(f.join(), everything())
		}
	})
	testBehindTheLastClaim(c)
	testPoison(c)
	c.test("trap 29: a finished job cannot be reopened while another has its key", func(f *fixture) {
		first := f.in(fairlead.Failed, keyed("k"))
		second := f.enqueue(with(keyed("k")))
		f.wantTaken(operations(f.store).Reopen(f.ctx(), first.ID), second)
		f.settle(to(fairlead.Fail, f.claimThe(second, f.join())))
		f.ok(operations(f.store).Reopen(f.ctx(), first.ID))
		f.wantTaken(operations(f.store).Reopen(f.ctx(), second.ID), first)
	})
	c.test("trap 31: numbers are never used again, not even by a new process on an empty database", func(f *fixture) {
		job := f.running()
		f.settle(to(fairlead.Succeed, job))
		f.ok(f.empty())
		g := f.elsewhere()
		next := g.running()
		if next.ID <= job.ID || next.Fence <= job.Fence || next.Node <= job.Node {
			f.Fatalf("job %d, fence %d, node %d came after job %d, fence %d, node %d", next.ID, next.Fence, next.Node, job.ID, job.Fence, job.Node)
		}
	})
	c.test("trap 34: a change that changes nothing is not a lost lease", func(f *fixture) {
		job := f.running()
		save := fairlead.Save{ID: job.ID, Fence: job.Fence, Progress: json.RawMessage(`1`), Memo: json.RawMessage(`1`)}
		beat := driver.Beat{Node: job.Node, Lease: lease, Idle: 1, Queued: 1}
		ready, later, at := f.enqueue(plain()), f.in(fairlead.Scheduled), f.now().Add(time.Hour)
		for range 2 { // within one microsecond of the database's clock
			f.ok(f.store.Save(f.ctx(), save))
			_, err := f.store.Beat(f.ctx(), beat)
			f.ok(err)
			f.ok(operations(f.store).SetPriority(f.ctx(), ready.ID, 0))
			f.ok(operations(f.store).SetPriority(f.ctx(), job.ID, 0))
			f.ok(operations(f.store).Reschedule(f.ctx(), later.ID, at))
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "same"))
			f.ok(f.store.Pause(f.ctx(), queuePause("q")))
		}
	})
}

// testBehindTheLastClaim covers trap 18: jobs that are inserted before already claimed
// ones. A store that remembers its position must not miss them.
func testBehindTheLastClaim(c *chapter) {
	// advanced claims enough jobs of one lane for a store to remember a position.
	advanced := func(f *fixture) fairlead.NodeID {
		f.enqueue(many(40)...)
		node := f.join()
		for range 3 {
			f.claim(node, 10)
		}
		return node
	}
	c.test("trap 18: a job of higher priority is claimed next", func(f *fixture) {
		node := advanced(f)
		f.claimThe(f.enqueue(with(priority(1))), node)
	})
	c.test("trap 18: a job with an earlier StartBy is claimed next", func(f *fixture) {
		node := advanced(f)
		f.claimThe(f.enqueue(with(startBy(f.now().Add(-time.Hour)))), node)
	})
	c.test("trap 18: a promoted job is claimed next", func(f *fixture) {
		f.enqueue(with(notBefore(f.now().Add(time.Second))))
		f.Advance(time.Minute)
		node := advanced(f)
		f.promote()
		f.equal("the age of what is claimed", f.now().Sub(f.claimOne(node).StartBy), time.Minute-time.Second)
	})
	c.test("trap 18: a reaped job is claimed next", func(f *fixture) {
		job := f.running()
		node := advanced(f)
		f.crash(job)
		f.claimThe(job, node)
	})
	c.test("trap 18: a job of a transaction that commits late is claimed next", func(f *fixture) {
		f.needs(OtherWriters)
		tx := f.begin()
		job := f.enqueueIn(tx, with(startBy(f.now().Add(-time.Second))))
		node := advanced(f)
		f.ok(tx.Commit())
		f.claimThe(job, node)
	})
}

// testPoison covers trap 27: which of many claimed jobs killed the node?
func testPoison(c *chapter) {
	c.test("trap 27: the job that kills its node ends as poison, those beside it go free", func(f *fixture) {
		const maxCrashes = driver.SoloAfter + 1
		innocent, killer := many(20), plain()
		f.enqueue(append(innocent, killer)...)
		// round is a round of a node. The node claims all ready jobs, or one suspect. It dies if
		// the killer is among them, and otherwise completes all of them.
		round := func(solo bool) {
			claim := driver.Claim{Node: f.join(), Scope: everything(), Max: 100, Solo: solo}
			if solo {
				claim.Max = 1
			}
			var settlements []fairlead.Settlement
			for _, job := range f.claimAs(claim) {
				settlements = append(settlements, to(fairlead.Succeed, job))
				if job.ID == killer.ID {
					f.ok(f.store.Leave(f.ctx(), claim.Node))
					_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: maxCrashes, Limit: 100})
					f.ok(err)
					return
				}
			}
			f.settle(settlements...)
		}
		for range driver.SoloAfter {
			round(false)
		}
		f.wantClaim(f.join(), everything())
		for range len(innocent) + maxCrashes {
			round(true)
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: int64(len(innocent)), fairlead.Failed: 1})
		f.equal("Reason", f.wantState(killer, fairlead.Failed).Reason, fairlead.ReasonPoison)
	})
}
