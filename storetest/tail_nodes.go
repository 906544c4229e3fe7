package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testNodes covers nodes whose ID was given to another node.
func (b *tail) testNodes(t *testing.T) {
	b.test(t, "a node whose row is another's has lost its lease", func(f *fixture, b *tail) {
		node := f.join()
		f.enqueue(with(ofKind("twice")))
		claimed := f.claimAs(driver.Claim{Node: node, Scope: everything("twice"), Max: 1})
		f.enqueue(with(ofKind("twice")))
		b.exec("update fairlead_node set token = 'of another' where id = %d", node)
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
		f.wantErr(err, fairlead.ErrLeaseLost)
		_, err = f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything("twice"), Max: 1})
		f.wantErr(err, fairlead.ErrLeaseLost)
		f.equal("what the first of them holds", f.held(node), []driver.Held(nil))
		f.ok(f.store.Leave(f.ctx(), node))
		found, _ := f.node(node)
		f.equal("the other is dead", found.Dead, false)
		f.wantState(claimed[0], fairlead.Running)
	})
	b.test(t, "a node holds its jobs, whichever nodes joined before it", func(f *fixture, _ *tail) {
		f.join()
		node := f.join()
		f.enqueue(with(ofKind("held")))
		job := f.claimAs(driver.Claim{Node: node, Scope: everything("held"), Max: 1})[0]
		f.equal("what it holds", f.held(node), []driver.Held{{ID: job.ID, Fence: job.Fence}})
	})
	b.test(t, "a node that joined through another store cannot be spoken for", func(f *fixture, _ *tail) {
		node, g := f.join(), f.another()
		_, err := g.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease})
		f.wantErr(err, fairlead.ErrLeaseLost)
		_, err = g.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
		f.wantErr(err, fairlead.ErrLeaseLost)
		f.beat(node)
	})
	b.test(t, "a node whose token its keeper names can be spoken for by every store", func(f *fixture, _ *tail) {
		kept := driver.AsNode(f.ctx(), "kept elsewhere")
		node, err := f.store.Join(kept, fairlead.Node{Name: "worker", Kinds: []string{"kept"}, Slots: 1}, lease)
		f.ok(err)
		job, g := f.enqueue(with(ofKind("kept"))), f.another()
		_, err = g.store.Beat(kept, driver.Beat{Node: node, Lease: lease})
		f.ok(err)
		claimed, err := g.store.Claim(kept, driver.Claim{Node: node, Scope: everything("kept"), Max: 1})
		f.ok(err)
		f.equal("what was claimed", ids(claimed), ids([]*fairlead.Job{job}))
		_, err = g.store.Beat(driver.AsNode(f.ctx(), "another"), driver.Beat{Node: node, Lease: lease})
		f.wantErr(err, fairlead.ErrLeaseLost)
		f.ok(g.store.Leave(kept, node))
		found, _ := f.node(node)
		f.equal("it has left", found.Dead, true)
	})
}

// testCounters covers numbers that must not be issued twice.
func (b *tail) testCounters(t *testing.T) {
	b.test(t, "fences continue above all that were given out before a node joined, known or not", func(f *fixture, _ *tail) {
		node, begun := f.join(), time.Now()
		f.enqueue(with(ofKind("fenced")))
		job := f.claimAs(driver.Claim{Node: node, Scope: everything("fenced"), Max: 1})[0]
		if job.Fence < begun.Add(-time.Hour).UnixMicro() {
			f.Fatalf("the fence %d is not anchored to the clock", job.Fence)
		}
	})
	b.test(t, "after Restored fences, jobs and nodes have larger numbers than ever before, at every store", func(f *fixture, _ *tail) {
		node, g := f.join(), f.another()
		f.enqueue(with(ofKind("restored")))
		first := f.claimAs(driver.Claim{Node: node, Scope: everything("restored"), Max: 1})[0]
		known := g.enqueue(with(ofKind("restored-too"))) // this store has reserved IDs
		done, err := f.store.(driver.Restorer).Restored(f.ctx())
		f.ok(err)
		if done.Fence < first.Fence || done.Job < max(first.ID, known.ID) || done.Node < node {
			f.Fatalf("restored to %+v; there were fence %d, jobs %d and %d, node %d", done, first.Fence, first.ID, known.ID, node)
		}
		f.settle(to(fairlead.MoveRelease, first))
		for _, each := range []*fixture{f, g} {
			each.eventually("ids of new jobs have jumped", func() bool { return each.enqueue(with(ofKind("restored-more"))).ID > done.Job })
			if id := each.join(); id <= done.Node {
				f.Fatalf("a new node has the id %d", id)
			}
		}
		second := f.claimAs(driver.Claim{Node: node, Scope: everything("restored"), Max: 1})[0]
		if second.Fence <= done.Fence {
			f.Fatalf("the fence %d follows %d", second.Fence, done.Fence)
		}
	})
	b.test(t, "a version of the limits that was lost is not reached again with other contents", func(f *fixture, b *tail) {
		node, g := f.join(), f.another()
		f.enqueue(with(ofKind("open")), with(ofKind("shut")))
		scope := everything("open", "shut")
		version := b.count("%s", b.LimitsVersion)
		f.ok(f.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseKind, Name: "open"}))
		f.ok(f.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseKind, Name: "shut"}))
		f.wantClaim(node, scope)
		b.exec("delete from fairlead_pause")
		b.exec(b.SetLimitsVersion, version)
		f.ok(g.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseKind, Name: "other"}))
		f.ok(g.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseKind, Name: "shut"}))
		f.equal("kinds of what was claimed", kindsOf(f.claimAs(driver.Claim{Node: node, Scope: scope, Max: 10})), map[string]int{"open": 1})
		f.ok(f.resumeAll())
	})
}
