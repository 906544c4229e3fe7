package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// explain calls Explain for a job and checks that it returns these obstacles, in order.
func (f *fixture) explain(job *fairlead.Job, want ...fairlead.ObstacleCode) fairlead.Explanation {
	f.Helper()
	e, err := f.store.Explain(f.ctx(), job.ID)
	f.ok(err)
	got := make([]fairlead.ObstacleCode, len(e.Obstacles))
	for i, o := range e.Obstacles {
		got[i] = o.Code
		if o.Text == "" {
			f.Errorf("obstacle %q says nothing to people", o.Code)
		}
	}
	f.equal("the obstacles", got, want)
	f.equal("the job", e.ID, job.ID)
	f.equal("the time", e.At, f.now())
	return e
}

// joinIdle registers a node with free slots.
func (f *fixture) joinIdle() fairlead.NodeID {
	f.Helper()
	node := f.join()
	_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease, Idle: 3})
	f.ok(err)
	return node
}

func testExplain(c *chapter) {
	c.test("nothing keeps a job that can start at once", func(f *fixture) {
		f.joinIdle()
		job := f.enqueue(plain())
		e := f.explain(job)
		f.equal("its start", e.Start, f.now())
		f.equal("its state", e.State, fairlead.Ready)
	})
	c.test("a job that nobody knows is not found", func(f *fixture) {
		_, err := f.store.Explain(f.ctx(), unknown)
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("nothing keeps jobs that run, wait for an answer or have ended", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Running, fairlead.Waiting, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled} {
			e := f.explain(f.in(state))
			f.equal("its state", e.State, state)
		}
	})
	c.test("when it starts is estimated from how many jobs were started", func(f *fixture) {
		f.joinIdle()
		f.enqueue(many(5)...)
		job := f.enqueue(plain())
		f.equal("its start while nothing is", f.explain(job, fairlead.InLine).Start, time.Time{})
		f.report(driver.Starts{Tenant: fairlead.DefaultTenant, Count: 120}, driver.Starts{Tenant: "acme", Count: 60})
		f.equal("its start in line", f.explain(job, fairlead.InLine).Start, f.now().Add(5*time.Second/3))
		f.cap(fairlead.LimitTenant, "acme", 1)
		f.running(forTenant("acme"), inQueue("other"))
		capped := with(forTenant("acme"), inQueue("other"), priority(1))
		f.equal("its start at a cap", f.explain(f.enqueue(capped), fairlead.AtCap).Start, f.now().Add(time.Second))
	})
	c.test("its start is not estimated while newer jobs overtake it", func(f *fixture) {
		node := f.joinIdle()
		f.enqueue(many(5)...)
		job := f.enqueue(plain())
		f.enqueue(many(10)...)
		f.enqueue(with(priority(1), notBefore(f.now().Add(time.Hour))))
		f.report(driver.Starts{Tenant: fairlead.DefaultTenant, Count: 60})
		f.equal("its start in line", f.explain(job, fairlead.InLine).Start, f.now().Add(5*time.Second))
		f.enqueue(many(30, priority(1))...)
		f.enqueue(many(20, priority(2), forTenant("acme"))...)
		f.claim(node, 3)
		e := f.explain(job, fairlead.InLine)
		f.equal("its start", e.Start, time.Time{})
		f.equal("the reason", []any{e.NoEstimate.Reason, e.NoEstimate.Newer, e.NoEstimate.Started, e.NoEstimate.Text != ""}, []any{fairlead.Overtaken, 50, 60, true})
		f.Advance(2 * fairlead.UsageWindow) // starts are counted in coarse steps
		f.joinIdle()
		f.report(driver.Starts{Tenant: fairlead.DefaultTenant, Count: 60})
		f.equal("its start when they arrive no more", f.explain(job, fairlead.InLine).Start, f.now().Add(52*time.Second))
	})
	c.test("it is not due yet", func(f *fixture) {
		f.joinIdle()
		due := f.now().Add(time.Hour)
		e := f.explain(f.enqueue(with(notBefore(due))), fairlead.NotDue)
		f.equal("until", e.Obstacles[0].Until, due)
		f.equal("its start", e.Start, due)
	})
	c.test("it backs off after a failure", func(f *fixture) {
		job := f.running()
		f.joinIdle()
		f.settle(again(job, time.Minute))
		e := f.explain(job, fairlead.NotDue)
		f.equal("its start", e.Start, f.now().Add(time.Minute))
	})
	c.test("its queue, kind, tenant and the tenant's parent are paused", func(f *fixture) {
		f.joinIdle()
		f.declare(fairlead.Tenant{Name: "top", Paused: true})
		f.declare(fairlead.Tenant{Name: "acme", Parent: "top", Paused: true})
		f.pause(queuePause(fairlead.DefaultQueue), kindPause(kind))
		e := f.explain(f.enqueue(with(forTenant("acme"))), fairlead.IsPaused, fairlead.IsPaused, fairlead.IsPaused, fairlead.IsPaused)
		names := make([]string, len(e.Obstacles))
		for i, o := range e.Obstacles {
			names[i] = string(o.Scope) + " " + o.Name
		}
		f.equal("what is paused", names, []string{"queue default", "kind greet", "tenant acme", "tenant top"})
		f.equal("its start", e.Start, time.Time{})
	})
	c.test("the reason for a pause, as last given", func(f *fixture) {
		f.joinIdle()
		job, pause := f.enqueue(plain()), queuePause(fairlead.DefaultQueue)
		for _, reason := range []string{"storage migration", "faulty release"} {
			pause.Reason = reason
			f.pause(pause)
			o := f.explain(job, fairlead.IsPaused).Obstacles[0]
			f.equal("the reason", o.Reason, reason)
			f.equal("its text", o.Text, `queue "default" is paused (`+reason+`)`)
		}
	})
	c.test("no node serves its queue", func(f *fixture) {
		id, err := f.store.Join(f.ctx(), fairlead.Node{Name: "other", Kinds: []string{kind}, Queues: []string{"other"}, Slots: 1}, lease)
		f.ok(err)
		_, err = f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: lease, Idle: 1})
		f.ok(err)
		f.explain(f.enqueue(plain()), fairlead.NoNode)
	})
	c.test("no node knows its kind", func(f *fixture) {
		f.joinIdle()
		e := f.explain(f.enqueue(with(ofKind("unheard of"))), fairlead.NoNode)
		f.equal("what nodes know", e.Obstacles[0].Kinds, []fairlead.KindCount{{Kind: kind}})
	})
	c.test("the nodes that could run it are dead", func(f *fixture) {
		f.ok(f.store.Leave(f.ctx(), f.joinIdle()))
		f.explain(f.enqueue(plain()), fairlead.NoNode)
	})
	c.test("the nodes that could run it drain", func(f *fixture) {
		node := f.joinIdle()
		f.drain(node, true)
		job := f.enqueue(plain())
		f.explain(job, fairlead.NoNode)
		f.drain(node, false)
		f.explain(job)
	})
	c.test("the nodes that could run it are busy", func(f *fixture) {
		node := f.joinIdle()
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease, Idle: 0})
		f.ok(err)
		f.enqueue(many(2)...)
		f.claim(node, 2)
		f.running(ofKind("other"))
		e := f.explain(f.enqueue(plain()), fairlead.NoSlot)
		f.equal("who takes the slots", e.Obstacles[0].Kinds, []fairlead.KindCount{{Kind: kind, Jobs: 2}, {Kind: "other", Jobs: 1}})
	})
	c.test("a job that runs names its node, and how that and its run stand", func(f *fixture) {
		node, err := f.store.Join(f.ctx(), fairlead.Node{Name: "alpha", Kinds: []string{kind}, Slots: 1, Defaults: []fairlead.KindDefaults{{Kind: kind, Timeout: time.Minute}}}, lease)
		f.ok(err)
		begun := f.now()
		long := f.enqueue(with(func(job *fairlead.Job) { job.Timeout = time.Hour }))
		f.claimThe(long, node)
		usual := f.enqueue(plain())
		f.claimThe(usual, node)
		f.equal("its run", f.explain(long).Run, &fairlead.CurrentRun{Node: node, Name: "alpha", Since: begun, Timeout: time.Hour, LastBeat: begun})
		f.Advance(time.Second)
		_, err = f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
		f.ok(err)
		f.ok(operations(f.store).Cancel(f.ctx(), usual.ID, "no need"))
		f.equal("the run of the other", f.explain(usual).Run, &fairlead.CurrentRun{Node: node, Name: "alpha", Since: begun, Timeout: time.Minute, LastBeat: begun.Add(time.Second), Stopping: true})
		f.ok(f.store.Leave(f.ctx(), node))
		f.equal("whether its node is gone", f.explain(long).Run.Lost, true)
	})
	c.test("a cap is reached", func(f *fixture) {
		f.joinIdle()
		f.cap(fairlead.LimitTenant, "acme", 1)
		f.running(forTenant("acme"))
		e := f.explain(f.enqueue(with(forTenant("acme"))), fairlead.AtCap)
		o := e.Obstacles[0]
		f.equal("whose", []any{o.Scope, o.Name, o.Used, o.Cap}, []any{fairlead.LimitTenant, "acme", 1, 1})
	})
	c.test("a rate is used up", func(f *fixture) {
		f.joinIdle()
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.5, Burst: 1})
		f.running()
		e := f.explain(f.enqueue(plain()), fairlead.OverRate)
		f.equal("its start", e.Start, f.now().Add(2*time.Second))
	})
	c.test("it is a crash suspect", func(f *fixture) {
		job := f.suspect()
		f.joinIdle()
		f.explain(job, fairlead.Suspected)
	})
	c.test("others go first", func(f *fixture) {
		f.joinIdle()
		f.enqueue(many(3, priority(1))...)
		f.enqueue(many(2)...)
		job := f.enqueue(plain())
		f.enqueue(many(4)...)
		f.enqueue(many(4, priority(-1))...)
		e := f.explain(job, fairlead.InLine)
		f.equal("how many", e.Ahead, 5)
	})
	c.test("crash suspects do not go first", func(f *fixture) {
		f.suspect()
		f.joinIdle()
		f.enqueue(plain())
		e := f.explain(f.enqueue(plain()), fairlead.InLine)
		f.equal("how many", e.Ahead, 1)
	})
	c.test("others of several queues and tenants go first, each counted once", func(f *fixture) {
		f.joinIdle()
		f.enqueue(many(2)...)
		f.enqueue(many(3, inQueue("other"))...)
		f.enqueue(many(4, forTenant("acme"))...)
		e := f.explain(f.enqueue(plain()), fairlead.InLine)
		f.equal("how many", e.Ahead, 9)
	})
	c.test("jobs that cannot start do not stand in line", func(f *fixture) {
		f.joinIdle()
		f.cap(fairlead.LimitTenant, "full", 1)
		f.running(forTenant("full"))
		f.enqueue(many(3, priority(1), forTenant("full"))...)
		f.pause(queuePause("held"))
		f.enqueue(many(3, priority(1), inQueue("held"))...)
		f.explain(f.enqueue(plain()))
	})
	c.test("jobs that the same full cap holds go first, of all tenants under it", func(f *fixture) {
		f.joinIdle()
		f.declare(fairlead.Tenant{Name: "top", MaxRunning: 1})
		f.declare(fairlead.Tenant{Name: "east", Parent: "top"})
		f.declare(fairlead.Tenant{Name: "west", Parent: "top"})
		f.cap(fairlead.LimitTenant, "full", 1)
		f.running(forTenant("east"))
		f.running(forTenant("full"))
		f.enqueue(many(2, forTenant("east"))...)
		f.enqueue(many(3, forTenant("west"))...)
		f.enqueue(many(4, forTenant("full"))...)
		job := f.enqueue(with(forTenant("east")))
		e := f.explain(job, fairlead.AtCap, fairlead.InLine)
		f.equal("how many", e.Ahead, 5)
		f.equal("its start while nothing is started", e.Start, time.Time{})
		f.report(driver.Starts{Tenant: "west", Count: 10}, driver.Starts{Tenant: "full", Count: 1000})
		f.equal("its start", f.explain(job, fairlead.AtCap, fairlead.InLine).Start, f.now().Add(fairlead.UsageWindow*6/10))
	})
	c.test("jobs that the same rate holds go first, each at the rate", func(f *fixture) {
		f.joinIdle()
		f.declare(fairlead.Tenant{Name: "acme", Rate: 0.5, Burst: 1})
		f.running(forTenant("acme"))
		f.enqueue(many(2, forTenant("acme"))...)
		f.enqueue(many(3, forTenant("acme"), inQueue("other"))...)
		f.enqueue(many(4)...)
		job := f.enqueue(with(forTenant("acme")))
		f.report(driver.Starts{Tenant: fairlead.DefaultTenant, Count: 6000})
		e := f.explain(job, fairlead.OverRate, fairlead.InLine)
		f.equal("how many", e.Ahead, 9)
		f.equal("its start", e.Start, f.now().Add(12*time.Second))
	})
	c.test("of two reasons both are told", func(f *fixture) {
		f.joinIdle()
		f.pause(kindPause(kind))
		f.cap(fairlead.LimitGlobal, "", 1)
		f.running(ofKind("other"))
		e := f.explain(f.enqueue(with(notBefore(f.now().Add(time.Hour)))), fairlead.NotDue, fairlead.IsPaused, fairlead.AtCap)
		f.equal("its start", e.Start, time.Time{})
	})
}
