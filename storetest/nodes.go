package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testNodes(c *chapter) {
	c.test("Join registers a node and grants it a lease", func(f *fixture) {
		node := fairlead.Node{
			Name: "n1", Address: "http://10.0.0.7:7717", Version: "v1.2.3",
			Queues: []string{"europe", "default"}, Kinds: []string{"a", "b"}, Slots: 32, Idle: 30, Queued: 2, Capacity: 100, MaxSweeps: 5,
			Remote: true, Owner: "ci", Tenants: []string{"acme"}, Defaults: []fairlead.KindDefaults{{Kind: "a", Timeout: time.Minute, MaxAttempts: 3, Retry: fairlead.Fixed(time.Second)}},
		}
		id, err := f.store.Join(f.ctx(), node, time.Minute)
		f.ok(err)
		node.ID, node.JoinedAt, node.LastBeat, node.Until = id, f.now(), f.now(), f.now().Add(time.Minute)
		nodes, err := f.elsewhere().store.Nodes(f.ctx())
		f.ok(err)
		f.equal("the nodes", nodes, []fairlead.Node{node})
	})
	c.test("IDs of nodes grow and are never reused", func(f *fixture) {
		g, last := f.elsewhere(), fairlead.NodeID(0)
		for i := range 6 {
			id := []*fixture{f, g}[i%2].join()
			if id <= last {
				f.Fatalf("node %d joined after node %d", id, last)
			}
			last = id
			if i%3 == 2 { // the store forgets the node completely
				f.ok(f.store.Leave(f.ctx(), id))
				f.ok(f.forgetNodes())
			}
		}
	})
	c.test("Nodes lists the living and the dead", func(f *fixture) {
		alive, dead, left := f.join(), f.joinFor(time.Second), f.join()
		f.ok(f.store.Leave(f.ctx(), left))
		f.Advance(time.Minute)
		f.reap()
		for id, want := range map[fairlead.NodeID]bool{alive: false, dead: true, left: true} {
			node, found := f.node(id)
			f.equal("the node is listed", found, true)
			f.equal("Dead", node.Dead, want)
		}
	})
	c.test("a node whose lease has run out is dead, declared or not", func(f *fixture) {
		id := f.joinFor(time.Minute)
		f.Advance(time.Hour)
		node, _ := f.node(id)
		f.equal("Dead", node.Dead, true)
	})
	c.test("at the end of a lease the node is either alive or to be reaped", func(f *fixture) {
		one, two := f.joinFor(time.Minute), f.joinFor(time.Minute)
		f.Advance(time.Minute)
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: one, Lease: lease})
		if err == nil {
			f.equal("what is reaped", f.reap(), driver.Reaped{})
			return
		}
		f.wantErr(err, fairlead.ErrLeaseLost)
		_, err = f.store.Claim(f.ctx(), driver.Claim{Node: two, Scope: everything(), Max: 1})
		f.wantErr(err, fairlead.ErrLeaseLost)
		f.equal("what is reaped", f.reap(), driver.Reaped{Nodes: 2})
	})
	c.test("a node that was declared dead stays so if the clock is set back", func(f *fixture) {
		lapsed, left, alive := f.joinFor(time.Minute), f.join(), f.join()
		f.enqueue(plain())
		f.Advance(2 * time.Minute)
		f.ok(f.store.Leave(f.ctx(), left))
		f.reap()
		f.Advance(-90 * time.Second)
		for _, node := range []fairlead.NodeID{lapsed, left} {
			_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
			f.wantErr(err, fairlead.ErrLeaseLost)
			_, err = f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
			f.wantErr(err, fairlead.ErrLeaseLost)
			f.wantErr(f.store.Drain(f.ctx(), node, true), fairlead.ErrNotFound)
			found, _ := f.node(node)
			f.equal("Dead", found.Dead, true)
		}
		f.claimOne(alive)
	})
	testBeat(c)
	testLeave(c)
	c.test("Held lists the jobs that are leased to the node", func(f *fixture) {
		node, other, jobs := f.join(), f.join(), many(4)
		f.enqueue(jobs...)
		mine := f.claim(node, 3)
		f.claim(other, 1)
		f.settle(wait(mine[1]))
		held := f.held(node)
		slices.SortFunc(held, func(a, b driver.Held) int { return int(a.ID - b.ID) })
		f.equal("what is held", held, []driver.Held{{ID: mine[0].ID, Fence: mine[0].Fence}, {ID: mine[2].ID, Fence: mine[2].Fence}})
		f.equal("what an unknown node holds", f.held(1<<40), []driver.Held(nil))
	})
}

func testBeat(c *chapter) {
	c.test("Beat extends the lease from the database's now", func(f *fixture) {
		id := f.joinFor(time.Minute)
		joined := f.now()
		f.Advance(50 * time.Second)
		answer, err := f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: 2 * time.Minute})
		f.ok(err)
		f.equal("Now", answer.Now, f.now())
		node, _ := f.node(id)
		f.equal("Until", node.Until, f.now().Add(2*time.Minute))
		f.equal("LastBeat", node.LastBeat, answer.Now)
		f.equal("JoinedAt", node.JoinedAt, joined)
		f.Advance(119 * time.Second)
		f.equal("what is reaped", f.reap(), driver.Reaped{})
	})
	c.test("Beat can shorten the lease", func(f *fixture) {
		id := f.join()
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: time.Second})
		f.ok(err)
		f.Advance(2 * time.Second)
		_, err = f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: time.Second})
		f.wantErr(err, fairlead.ErrLeaseLost)
	})
	c.test("Beat records what the node reports", func(f *fixture) {
		id := f.join()
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: lease, Idle: 3, Queued: 7})
		f.ok(err)
		node, _ := f.node(id)
		f.equal("Idle", node.Idle, 3)
		f.equal("Queued", node.Queued, 7)
		f.equal("Slots", node.Slots, 10)
	})
	c.test("Beat and Claim go on when the clock is set back", func(f *fixture) {
		id := f.join()
		f.Advance(time.Second)
		f.beat(id)
		f.Advance(-10 * time.Second)
		for range 2 {
			f.equal("Now", f.beat(id).Now, f.now())
			f.Advance(time.Second)
		}
		f.claim(id, 1)
		f.Advance(8 * time.Second)
	})
	c.test("Beat of a node without a live lease gets ErrLeaseLost", func(f *fixture) {
		lapsed, dead, left := f.joinFor(time.Hour), f.joinFor(time.Second), f.join()
		f.ok(f.store.Leave(f.ctx(), left))
		f.Advance(time.Minute)
		f.reap()
		f.Advance(time.Hour)
		for _, node := range []fairlead.NodeID{lapsed, dead, left, 1 << 40} {
			_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: time.Minute})
			f.wantErr(err, fairlead.ErrLeaseLost)
		}
	})
}

func testLeave(c *chapter) {
	c.test("Leave ends the lease at once", func(f *fixture) {
		id := f.join()
		f.ok(f.store.Leave(f.ctx(), id))
		node, _ := f.node(id)
		f.equal("Dead", node.Dead, true)
		f.equal("Until", node.Until, f.now())
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: lease})
		f.wantErr(err, fairlead.ErrLeaseLost)
	})
	c.test("a node that leaves has left, and one that was declared dead before has died", func(f *fixture) {
		left, died, alive := f.join(), f.joinFor(time.Second), f.join()
		f.Advance(time.Minute)
		f.reap()
		at := f.now()
		f.ok(f.store.Leave(f.ctx(), left))
		f.ok(f.store.Leave(f.ctx(), died))
		f.Advance(time.Second)
		f.ok(f.store.Leave(f.ctx(), left)) // again, which has no effect
		for id, want := range map[fairlead.NodeID]time.Time{left: at, died: {}, alive: {}} {
			node, _ := f.node(id)
			f.equal("LeftAt", node.LeftAt, want)
			f.equal("Died", node.Died(), id == died)
		}
	})
	c.test("what the node still holds after Leave can be reaped", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.wantState(job, fairlead.Running)
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1})
		f.wantState(job, fairlead.Ready)
	})
	c.test("other nodes stay when one leaves", func(f *fixture) {
		id, job := f.join(), f.running()
		f.ok(f.store.Leave(f.ctx(), id))
		f.equal("what is reaped", f.reap(), driver.Reaped{})
		f.wantState(job, fairlead.Running)
	})
	c.test("leaving twice is fine", func(f *fixture) {
		id := f.join()
		f.ok(f.store.Leave(f.ctx(), id))
		f.ok(f.store.Leave(f.ctx(), id))
	})
}
