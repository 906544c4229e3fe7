package storetest

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// joinKnowing registers a node with some kinds and a number of free slots.
func (f *fixture) joinKnowing(idle int, kinds ...string) fairlead.NodeID {
	f.Helper()
	id, err := f.store.Join(f.ctx(), fairlead.Node{Name: "other", Kinds: kinds, Slots: 10}, lease)
	f.ok(err)
	_, err = f.store.Beat(f.ctx(), driver.Beat{Node: id, Lease: lease, Idle: idle})
	f.ok(err)
	return id
}

// testLeaving is trap 19.
func testLeaving(c *chapter) {
	// Only nodes that know its kind can run early. All nodes can run late.
	early, late := with(ofKind("rare"), priority(5)), plain()
	fill := func(f *fixture) (*fairlead.Job, *fairlead.Job) {
		first, second := *early, *late
		f.enqueue(&first, &second)
		return &first, &second
	}
	c.test("a slot under a tight cap is left to an earlier job that only another node can run", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		able := f.joinKnowing(1, "rare")
		first, _ := fill(f)
		f.wantClaim(f.join(), everything())
		f.wantClaim(able, everything("rare"), first)
	})
	c.test("no slot is left to a job that has to wait for a free slot of its node anyway", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		f.joinKnowing(0, "rare")
		_, second := fill(f)
		f.wantClaim(f.join(), everything(), second)
	})
	c.test("no slot is left to a job that no living node can run", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		f.ok(f.store.Leave(f.ctx(), f.joinKnowing(1, "rare")))
		_, second := fill(f)
		f.wantClaim(f.join(), everything(), second)
	})
	c.test("no slot is left to a job of a node that drains", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		f.drain(f.joinKnowing(1, "rare"), true)
		_, second := fill(f)
		f.wantClaim(f.join(), everything(), second)
	})
	c.test("no more slots are left than the other nodes have", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 3)
		f.joinKnowing(1, "rare")
		f.enqueue(many(5, ofKind("rare"), priority(5))...)
		f.enqueue(many(5)...)
		f.wantClaimed(f.join(), 2)
	})
	c.test("a later job of another node takes no slot away", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 1)
		f.joinKnowing(1, "rare")
		f.enqueue(with(ofKind("rare"), priority(-5)))
		job := f.enqueue(plain())
		f.wantClaim(f.join(), everything(), job)
	})
	c.test("a tenant's minimum is kept free for it even if only another node runs its jobs", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 2)
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 1})
		f.joinKnowing(3, "rare")
		f.enqueue(many(3, ofKind("rare"), forTenant("small"), priority(-5))...)
		first := f.enqueue(many(3)...)
		f.wantClaim(f.join(), everything(), first)
	})
}
