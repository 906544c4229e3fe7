package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// limit sets a limit.
func (f *fixture) limit(limit fairlead.Limit) {
	f.Helper()
	f.ok(f.tryLimit(limit))
}

// tryLimit calls Store.SetLimit with the defaults filled in, like the client.
func (f *fixture) tryLimit(limit fairlead.Limit) error {
	f.Helper()
	f.ok(fairlead.NormalizeLimit(&limit))
	return f.store.SetLimit(f.ctx(), limit)
}

// cap sets the cap of a scope.
func (f *fixture) cap(scope fairlead.LimitScope, name string, n int) {
	f.Helper()
	if scope != fairlead.LimitTenant {
		f.limit(fairlead.Limit{Scope: scope, Name: name, MaxRunning: n})
		return
	}
	tenant := fairlead.Tenant{Name: name}
	if known := f.tenants(fairlead.TenantFilter{Names: []string{name}}); len(known) == 1 {
		tenant = known[0]
	}
	tenant.MaxRunning = n
	f.declare(tenant)
}

// wantUse checks the usage of a limit, and that a count of the jobs agrees.
func (f *fixture) wantUse(scope fairlead.LimitScope, name string, running int) {
	f.Helper()
	limits, err := f.store.Limits(f.ctx())
	f.ok(err)
	for _, l := range limits {
		if l.Scope == scope && l.Name == name {
			f.equal("the use", l.Running, running)
			f.wantNoDrift()
			return
		}
	}
	f.Fatalf("there is no limit of %s %q in %+v", scope, name, limits)
}

func (f *fixture) wantNoDrift() {
	f.Helper()
	drift, err := f.store.Verify(f.ctx())
	f.ok(err)
	f.equal("the drift", drift, []driver.Drift(nil))
}

// waitingFor returns a job that waits for its callback.
func (f *fixture) waitingFor(deadline time.Duration) *fairlead.Job {
	f.Helper()
	job := f.running()
	settlement := to(fairlead.MoveAwait, job)
	settlement.After = deadline
	f.settle(settlement)
	return job
}

// wantClaimed claims all jobs and checks their number.
func (f *fixture) wantClaimed(node fairlead.NodeID, n int) []*fairlead.Job {
	f.Helper()
	jobs := f.claimAs(driver.Claim{Node: node, Scope: everything(kind, "other"), Max: 100})
	if len(jobs) != n {
		f.Fatalf("%d jobs were claimed, want %d", len(jobs), n)
	}
	return jobs
}

// scopes returns all limits that apply to the jobs of one lane.
func scopes() []fairlead.Limit {
	return []fairlead.Limit{
		{Scope: fairlead.LimitGlobal},
		{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue},
		{Scope: fairlead.LimitKind, Name: kind},
		{Scope: fairlead.LimitTenant, Name: fairlead.DefaultTenant},
	}
}

func testCaps(c *chapter) {
	for _, l := range scopes() {
		c.test("no more jobs run than the cap of "+string(l.Scope)+" says", func(f *fixture) {
			f.cap(l.Scope, l.Name, 3)
			f.enqueue(many(10)...)
			node := f.join()
			jobs := f.wantClaimed(node, 3)
			f.wantUse(l.Scope, l.Name, 3)
			f.wantClaimed(f.join(), 0)
			f.settle(to(fairlead.Succeed, jobs[0]), to(fairlead.Fail, jobs[1]))
			f.wantUse(l.Scope, l.Name, 1)
			f.wantClaimed(node, 2)
		})
	}
	c.test("jobs outside of a limit's scope are not bounded by it", func(f *fixture) {
		f.cap(fairlead.LimitQueue, "q", 1)
		f.cap(fairlead.LimitKind, "other", 1)
		f.cap(fairlead.LimitTenant, "acme", 1)
		f.enqueue(many(5, inQueue("free"))...)
		f.enqueue(many(5, inQueue("q"))...)
		f.enqueue(many(5, ofKind("other"))...)
		f.enqueue(many(5, forTenant("acme"))...)
		f.wantClaimed(f.join(), 8)
	})
	c.test("of several limits the tightest decides", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 5)
		f.cap(fairlead.LimitKind, kind, 4)
		f.cap(fairlead.LimitTenant, "acme", 2)
		f.enqueue(many(10, forTenant("acme"))...)
		f.enqueue(many(10)...)
		f.enqueue(many(10, ofKind("other"))...)
		jobs := f.wantClaimed(f.join(), 5)
		f.equal("jobs of the tenant", len(of(jobs, func(j *fairlead.Job) bool { return j.Tenant == "acme" })), 2)
		f.equal("jobs of the kind", len(of(jobs, func(j *fairlead.Job) bool { return j.Kind == kind })), 4)
	})
	c.test("a parent's cap holds for all its children and itself together", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "top", MaxRunning: 4})
		f.declare(fairlead.Tenant{Name: "a", Parent: "top", MaxRunning: 3})
		f.declare(fairlead.Tenant{Name: "b", Parent: "top"})
		f.enqueue(many(5, forTenant("a"))...)
		f.wantClaimed(f.join(), 3)
		f.enqueue(many(5, forTenant("b"))...)
		f.enqueue(many(5, forTenant("top"))...)
		f.wantClaimed(f.join(), 1)
		f.wantUse(fairlead.LimitTenant, "top", 4)
	})
	c.test("a full lane neither hides nor delays what stands behind it", func(f *fixture) {
		f.cap(fairlead.LimitTenant, "acme", 1)
		f.enqueue(many(200, forTenant("acme"), priority(9))...)
		free := f.enqueue(plain())
		jobs := f.wantClaimed(f.join(), 2)
		f.equal("the second", jobs[1].ID, free.ID)
	})
	c.test("what is under a cap starts in order, over all lanes", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 4)
		at := f.now()
		jobs := []*fairlead.Job{
			with(forTenant("a"), startBy(at.Add(3*time.Second))),
			with(forTenant("b"), startBy(at.Add(1*time.Second))),
			with(forTenant("c"), startBy(at.Add(5*time.Second))),
			with(forTenant("a"), startBy(at.Add(2*time.Second))),
			with(forTenant("b"), priority(1), startBy(at.Add(9*time.Second))),
			with(forTenant("c"), startBy(at.Add(4*time.Second))),
		}
		f.enqueue(jobs...)
		f.wantClaim(f.join(), everything(), jobs[4], jobs[1], jobs[3], jobs[0])
	})
	c.test("every way out of running frees its slot", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		node := f.join()
		for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease} {
			job := f.enqueue(plain())
			claimed := f.wantClaimed(node, 1)[0]
			f.wantUse(fairlead.LimitGlobal, "", 1)
			settlement := to(move, claimed)
			settlement.After = time.Hour
			f.settle(settlement)
			f.wantUse(fairlead.LimitGlobal, "", 0)
			if move == fairlead.MoveRelease {
				f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
			}
		}
	})
	c.test("a job that waits for its callback holds its slot until it is answered", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		job := f.waitingFor(time.Hour)
		f.wantUse(fairlead.LimitGlobal, "", 1)
		f.enqueue(plain())
		f.wantClaimed(f.join(), 0)
		f.resolve(to(fairlead.Succeed, job))
		f.wantUse(fairlead.LimitGlobal, "", 0)
		f.wantClaimed(f.join(), 1)
	})
	c.test("so do those that are cancelled and those whose deadline passes", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		f.ok(operations(f.store).Cancel(f.ctx(), f.waitingFor(time.Hour).ID, ""))
		f.wantUse(fairlead.LimitGlobal, "", 0)
		f.waitingFor(time.Minute)
		f.Advance(time.Hour)
		f.wantUse(fairlead.LimitGlobal, "", 1)
		_, err := expireOverdue(f.ctx(), f.store, 10)
		f.ok(err)
		f.wantUse(fairlead.LimitGlobal, "", 0)
	})
	c.test("a job asked to stop holds its slot until it has stopped", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.wantUse(fairlead.LimitGlobal, "", 1)
		f.wantSettled([]fairlead.Settled{fairlead.SettledCancelled}, to(fairlead.Again, job))
		f.wantUse(fairlead.LimitGlobal, "", 0)
	})
	c.test("the slots of a dead node are free when its jobs were taken back", func(f *fixture) {
		f.cap(fairlead.LimitTenant, fairlead.DefaultTenant, 2)
		f.enqueue(many(4)...)
		f.wantClaimed(f.joinFor(time.Minute), 2)
		f.Advance(time.Hour)
		f.wantClaimed(f.join(), 0)
		f.wantUse(fairlead.LimitTenant, fairlead.DefaultTenant, 2)
		f.reap()
		f.wantUse(fairlead.LimitTenant, fairlead.DefaultTenant, 0)
		f.wantClaimed(f.join(), 2)
	})
	c.test("a settlement that comes too late frees nothing a second time", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 2)
		job := f.running()
		f.crash(job)
		f.enqueue(plain())
		f.wantClaimed(f.join(), 2)
		f.wantSettled([]fairlead.Settled{fairlead.SettledLost}, to(fairlead.Succeed, job))
		f.wantUse(fairlead.LimitGlobal, "", 2)
	})
	c.test("a limit counts the jobs that were running before it was set", func(f *fixture) {
		f.enqueue(many(6)...)
		running := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 3})
		for _, l := range scopes() {
			f.cap(l.Scope, l.Name, 4)
			f.wantUse(l.Scope, l.Name, 3)
		}
		f.wantClaimed(f.join(), 1)
		f.settle(to(fairlead.Succeed, running[0]))
		for _, l := range scopes() {
			f.wantUse(l.Scope, l.Name, 3)
		}
	})
	c.test("a cap lowered below its use lets nothing start until it fits", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 3)
		f.enqueue(many(6)...)
		jobs := f.wantClaimed(f.join(), 3)
		f.cap(fairlead.LimitGlobal, "", 1)
		f.wantUse(fairlead.LimitGlobal, "", 3)
		f.settle(to(fairlead.Succeed, jobs[0]), to(fairlead.Succeed, jobs[1]))
		f.wantClaimed(f.join(), 0)
		f.settle(to(fairlead.Succeed, jobs[2]))
		f.wantClaimed(f.join(), 1)
	})
	c.test("a cap that is raised or removed lets more start, also in another process", func(f *fixture) {
		g := f.elsewhere()
		node := g.join()
		f.enqueue(many(9)...)
		f.cap(fairlead.LimitGlobal, "", 1)
		g.wantClaimed(node, 1)
		f.cap(fairlead.LimitGlobal, "", 3)
		g.wantClaimed(node, 2)
		f.cap(fairlead.LimitGlobal, "", 0)
		g.wantClaimed(node, 6)
	})
	c.test("jobs that ran under a limit which is gone end as others do", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 5)
		f.cap(fairlead.LimitTenant, fairlead.DefaultTenant, 5)
		job := f.running()
		f.cap(fairlead.LimitGlobal, "", 0)
		f.ok(f.store.DeleteTenant(f.ctx(), fairlead.DefaultTenant))
		f.settle(to(fairlead.Succeed, job))
		f.cap(fairlead.LimitGlobal, "", 1)
		f.wantUse(fairlead.LimitGlobal, "", 0)
	})
	c.test("a tenant that changes its parent takes its running jobs along", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "old", MaxRunning: 9})
		f.declare(fairlead.Tenant{Name: "new", MaxRunning: 2})
		acme := f.declare(fairlead.Tenant{Name: "acme", Parent: "old"})
		f.enqueue(many(5, forTenant("acme"))...)
		jobs := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 2})
		acme.Parent = "new"
		f.declare(acme)
		f.wantUse(fairlead.LimitTenant, "old", 0)
		f.wantUse(fairlead.LimitTenant, "new", 2)
		f.wantClaimed(f.join(), 0)
		f.settle(to(fairlead.Succeed, jobs[0]))
		f.wantClaimed(f.join(), 1)
	})
	c.test("kinds, queues and tenants that come later are under their limits too", func(f *fixture) {
		f.cap(fairlead.LimitKind, "other", 1)
		f.cap(fairlead.LimitTenant, "to come", 1)
		f.enqueue(many(3, ofKind("other"))...)
		f.enqueue(many(3, forTenant("to come"), inQueue("new"))...)
		f.wantClaimed(f.join(), 2)
	})
	c.test("a cap holds crash suspects too", func(f *fixture) {
		f.suspect()
		f.cap(fairlead.LimitGlobal, "", 1)
		f.enqueue(plain())
		f.wantClaimed(f.join(), 1)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1, Solo: true})
		f.equal("the solo claim", ids(claimed), []int64(nil))
		f.wantUse(fairlead.LimitGlobal, "", 1)
	})
	c.test("several suspects of one kind are found under a cap", func(f *fixture) {
		suspects := []*fairlead.Job{f.suspect(), f.suspect()}
		f.cap(fairlead.LimitGlobal, "", 5)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 10, Solo: true})
		f.equal("the solo claim", ids(claimed), ids(suspects))
	})
	c.test("a claim also respects the room that the node has for a kind", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 5)
		f.enqueue(many(5)...)
		f.enqueue(many(5, ofKind("other"))...)
		jobs := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(kind, "other"), Max: 10, Rooms: map[string]int{kind: 2}})
		f.equal("jobs", len(jobs), 5)
		f.equal("jobs of the kind", len(of(jobs, func(j *fairlead.Job) bool { return j.Kind == kind })), 2)
	})
	c.test("nodes are woken when a slot becomes free", func(f *fixture) {
		f.cap(fairlead.LimitQueue, fairlead.DefaultQueue, 1)
		job := f.running()
		f.enqueue(plain())
		heard := f.listen(everything())
		f.settle(to(fairlead.Succeed, job))
		if !heard.heard(driver.WakeRoom, patient) {
			f.Fatal("nobody was woken")
		}
	})
	c.test("Limits lists what is set, and nothing else", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "free"})
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 2, MinRunning: 1})
		f.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1})
		f.limit(fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", Rate: 5, Burst: 8})
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 7})
		f.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "gone", MaxRunning: 1})
		f.limit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: "gone"})
		limits, err := f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits", limits, []fairlead.LimitUse{
			{Limit: fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 7}},
			{Limit: fairlead.Limit{Scope: fairlead.LimitKind, Name: "k", Rate: 5, Burst: 8}, Tokens: 8},
			{Limit: fairlead.Limit{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1}},
			{Limit: fairlead.Limit{Scope: fairlead.LimitTenant, Name: "acme", MaxRunning: 2}, MinRunning: 1},
		})
	})
}

// of returns the matching jobs.
func of(jobs []*fairlead.Job, match func(*fairlead.Job) bool) []*fairlead.Job {
	var some []*fairlead.Job
	for _, job := range jobs {
		if match(job) {
			some = append(some, job)
		}
	}
	return some
}

func testRates(c *chapter) {
	for _, l := range scopes() {
		c.test("no more jobs start than the rate of "+string(l.Scope)+" says", func(f *fixture) {
			l.Rate, l.Burst = 10, 2
			if l.Scope == fairlead.LimitTenant {
				f.declare(fairlead.Tenant{Name: l.Name, Rate: l.Rate, Burst: l.Burst})
			} else {
				f.limit(l)
			}
			f.enqueue(many(50)...)
			node := f.join()
			f.wantClaimed(node, 2)
			f.wantClaimed(node, 0)
			f.Advance(99 * time.Millisecond)
			f.wantClaimed(node, 0)
			f.Advance(time.Millisecond)
			f.wantClaimed(node, 1)
			f.Advance(time.Minute)
			f.wantClaimed(node, 2)
		})
	}
	c.test("a start counts against the rate even if the job has long ended", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 1, Burst: 1})
		f.enqueue(many(2)...)
		f.settle(to(fairlead.Succeed, f.wantClaimed(f.join(), 1)[0]))
		f.wantClaimed(f.join(), 0)
	})
	c.test("a retry is a start", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 1, Burst: 1})
		f.enqueue(plain())
		f.settle(to(fairlead.Again, f.wantClaimed(f.join(), 1)[0]))
		f.wantClaimed(f.join(), 0)
		f.Advance(time.Second)
		f.wantClaimed(f.join(), 1)
	})
	c.test("what is over its rate delays nobody else", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", Rate: 1, Burst: 1})
		f.enqueue(many(20, forTenant("acme"), priority(5))...)
		f.enqueue(many(3)...)
		f.wantClaimed(f.join(), 4)
	})
	c.test("setting the same rate again gives no new tokens, another one starts with its burst", func(f *fixture) {
		rate := fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 1, Burst: 3}
		f.limit(rate)
		f.enqueue(many(20)...)
		f.wantClaimed(f.join(), 3)
		f.limit(rate)
		f.wantClaimed(f.join(), 0)
		rate.Burst = 4
		f.limit(rate)
		f.wantClaimed(f.join(), 4)
	})
	c.test("a cap and a rate hold together", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 3, Rate: 1, Burst: 2})
		f.enqueue(many(20)...)
		f.wantClaimed(f.join(), 2)
		f.Advance(time.Hour)
		f.wantClaimed(f.join(), 1)
	})
}
