package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func (f *fixture) drain(node fairlead.NodeID, drain bool) {
	f.Helper()
	f.ok(f.store.Drain(f.ctx(), node, drain))
}

// beat sends one heartbeat.
func (f *fixture) beat(node fairlead.NodeID) driver.BeatAnswer {
	f.Helper()
	answer, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
	f.ok(err)
	return answer
}

func (f *fixture) wantDraining(node fairlead.NodeID, want bool) {
	f.Helper()
	found, _ := f.node(node)
	f.equal("whether it is listed as draining", found.Draining, want)
	f.equal("whether its beat says so", f.beat(node).Drain, want)
}

func testDrain(c *chapter) {
	c.test("a node hears of it with its next beat, until it is undone", func(f *fixture) {
		g, node, other := f.elsewhere(), f.join(), f.join()
		f.wantDraining(node, false)
		f.drain(node, true)
		for range 2 {
			g.wantDraining(node, true)
		}
		g.wantDraining(other, false)
		f.drain(node, false)
		g.wantDraining(node, false)
	})
	c.test("asking twice is one drain", func(f *fixture) {
		node := f.join()
		for _, drain := range []bool{true, true, false, false} {
			f.drain(node, drain)
			f.wantDraining(node, drain)
		}
	})
	c.test("a node that is unknown or dead gets ErrNotFound", func(f *fixture) {
		lapsed, dead, left := f.joinFor(time.Hour), f.joinFor(time.Second), f.join()
		f.ok(f.store.Leave(f.ctx(), left))
		f.Advance(time.Minute)
		f.reap()
		f.Advance(time.Hour)
		for _, node := range []fairlead.NodeID{lapsed, dead, left, 1 << 40} {
			f.wantErr(f.store.Drain(f.ctx(), node, true), fairlead.ErrNotFound)
		}
	})
	c.test("a beat brings wishes to cancel as well", func(f *fixture) {
		job := f.running()
		f.drain(job.Node, true)
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		answer := f.beat(job.Node)
		f.equal("Drain", answer.Drain, true)
		f.equal("Cancel", answer.Cancel, []driver.Held{{ID: job.ID, Fence: job.Fence}})
	})
	c.test("what a draining node holds stays its own", func(f *fixture) {
		job := f.running()
		f.drain(job.Node, true)
		f.wantState(job, fairlead.Running)
		f.settle(to(fairlead.Succeed, job))
		f.wantState(job, fairlead.Succeeded)
	})
	c.test("one that joins as draining is so until it is undone", func(f *fixture) {
		node, err := f.store.Join(f.ctx(), fairlead.Node{Name: "node", Kinds: []string{kind}, Slots: 10, Draining: true}, lease)
		f.ok(err)
		f.wantDraining(node, true)
		f.drain(node, false)
		f.wantDraining(node, false)
	})
}
