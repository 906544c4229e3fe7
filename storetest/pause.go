package storetest

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func queuePause(name string) fairlead.Pause {
	return fairlead.Pause{Scope: fairlead.PauseQueue, Name: name}
}

func kindPause(name string) fairlead.Pause {
	return fairlead.Pause{Scope: fairlead.PauseKind, Name: name}
}

func (f *fixture) pause(pauses ...fairlead.Pause) {
	f.Helper()
	for _, pause := range pauses {
		f.ok(f.store.Pause(f.ctx(), pause))
	}
}

func (f *fixture) resume(pause fairlead.Pause) {
	f.Helper()
	f.ok(f.store.Resume(f.ctx(), pause))
}

// wantPauses checks for exactly these pauses, in any order.
func (f *fixture) wantPauses(want ...fairlead.Pause) {
	f.Helper()
	got, err := f.store.Pauses(f.ctx())
	f.ok(err)
	byName := func(a, b fairlead.Pause) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	f.equal("the pauses", got, want)
}

func testPause(c *chapter) {
	c.test("jobs of a paused queue are not claimed, all others are", func(f *fixture) {
		held, free := with(inQueue("held"), priority(9)), with(inQueue("free"))
		f.enqueue(held, free)
		f.pause(queuePause("held"))
		f.wantClaim(f.join(), everything(), free)
		f.wantState(held, fairlead.Ready)
	})
	c.test("jobs of a paused kind are not claimed, all others are", func(f *fixture) {
		held, free := with(ofKind("held"), priority(9)), with(ofKind("free"))
		f.enqueue(held, free)
		f.pause(kindPause("held"))
		f.wantClaim(f.join(), everything("held", "free"), free)
	})
	c.test("a queue and a kind of one name are two things", func(f *fixture) {
		queue, kind := with(inQueue("x"), ofKind("y")), with(inQueue("y"), ofKind("x"))
		f.enqueue(queue, kind)
		f.pause(queuePause("x"))
		f.wantClaim(f.join(), everything("x", "y"), kind)
		f.resume(kindPause("x"))
		f.wantClaim(f.join(), everything("x", "y"))
		f.resume(queuePause("x"))
		f.wantClaim(f.join(), everything("x", "y"), queue)
	})
	c.test("a job of a paused queue and a paused kind needs both resumed", func(f *fixture) {
		job := f.enqueue(plain())
		f.pause(queuePause(fairlead.DefaultQueue), kindPause(kind))
		f.resume(queuePause(fairlead.DefaultQueue))
		f.wantClaim(f.join(), everything())
		f.resume(kindPause(kind))
		f.claimThe(job, f.join())
	})
	c.test("jobs enqueued, promoted and taken back during a pause wait as well", func(f *fixture) {
		job := f.running()
		f.pause(queuePause(fairlead.DefaultQueue))
		f.crash(job)
		later := f.enqueue(plain())
		f.wantClaim(f.join(), everything())
		f.resume(queuePause(fairlead.DefaultQueue))
		f.wantClaim(f.join(), everything(), job, later)
	})
	c.test("what does not exist yet can be paused", func(f *fixture) {
		f.pause(queuePause("to come"), kindPause("to come"))
		f.enqueue(with(inQueue("to come")), with(ofKind("to come")))
		f.wantClaim(f.join(), everything(kind, "to come"))
	})
	c.test("running jobs go on", func(f *fixture) {
		job := f.running()
		f.pause(queuePause(fairlead.DefaultQueue), kindPause(kind))
		f.settle(to(fairlead.Succeed, job))
	})
	c.test("a pause holds crash suspects too", func(f *fixture) {
		f.suspect()
		f.pause(kindPause(kind))
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1, Solo: true})
		f.equal("the solo claim", ids(claimed), []int64(nil))
	})
	c.test("another process does not claim after Pause has returned, and does after Resume", func(f *fixture) {
		g := f.elsewhere()
		job, node := f.enqueue(plain()), g.join()
		for range 3 {
			f.pause(queuePause(fairlead.DefaultQueue))
			g.wantClaim(node, everything())
			f.resume(queuePause(fairlead.DefaultQueue))
			g.settle(to(fairlead.MoveRelease, g.claimThe(job, node)))
		}
	})
	c.test("pausing twice is one pause", func(f *fixture) {
		f.pause(queuePause("q"), queuePause("q"))
		f.wantPauses(queuePause("q"))
		f.resume(queuePause("q"))
		f.wantPauses()
	})
	c.test("resuming what is not paused is fine", func(f *fixture) {
		f.resume(queuePause("q"))
		f.resume(kindPause("never heard of"))
		f.wantPauses()
	})
	c.test("a pause keeps its reason until another one is given or it ends", func(f *fixture) {
		why := func(pause fairlead.Pause, reason string) fairlead.Pause {
			pause.Reason = reason
			return pause
		}
		f.pause(why(queuePause("q"), "a faulty release: 坏了"), why(kindPause("q"), "audit"))
		f.pause(queuePause("q"))
		f.wantPauses(why(queuePause("q"), "a faulty release: 坏了"), why(kindPause("q"), "audit"))
		f.pause(why(queuePause("q"), "storage migration"))
		f.wantPauses(why(queuePause("q"), "storage migration"), why(kindPause("q"), "audit"))
		f.resume(queuePause("q"))
		f.pause(queuePause("q"))
		f.wantPauses(queuePause("q"), why(kindPause("q"), "audit"))
	})
	c.test("changing a paused tenant keeps the reason", func(f *fixture) {
		pause := fairlead.Pause{Scope: fairlead.PauseTenant, Name: "acme", Reason: "unpaid"}
		f.pause(pause)
		tenant := f.declare(fairlead.Tenant{Name: "acme"})
		f.equal("whether it is paused", tenant.Paused, true)
		tenant.Weight = 2
		_, err := f.store.PutTenant(f.ctx(), tenant)
		f.ok(err)
		f.wantPauses(pause)
	})
	c.test("Pauses lists what is paused", func(f *fixture) {
		f.pause(queuePause("a"), queuePause("b"), kindPause("a"))
		f.wantPauses(queuePause("a"), queuePause("b"), kindPause("a"))
		f.resume(queuePause("a"))
		f.wantPauses(queuePause("b"), kindPause("a"))
	})
}
