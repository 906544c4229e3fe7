package storetest

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testLeases covers runs and nodes that resemble others: only the owner of the lease
// matters.
func testLeases(c *chapter) {
	c.test("Prune leaves a node alone while its lease lasts, however long ago it beat", func(f *fixture) {
		node := f.joinFor(100 * time.Hour)
		f.Advance(99 * time.Hour)
		_, err := f.store.Prune(f.ctx(), driver.Retention{}, 10)
		f.ok(err)
		if _, listed := f.node(node); !listed {
			f.Fatal("the node was forgotten")
		}
		f.claimThe(f.enqueue(plain()), node)
	})
	c.test("Lived takes nothing back for a job that was taken from the node without a crash", func(f *fixture) {
		first := f.running()
		second := f.claimAfterCrash(first)
		f.lived(second)
		f.ok(f.store.Leave(f.ctx(), second.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1})
		f.lived(second)
		f.wantSurvivor(first, 1, fairlead.ReasonCrash, fairlead.ReasonLeaseLost)
	})
	c.test("an answer is no repetition of that to an earlier run, be it in the same words", func(f *fixture) {
		first := f.in(fairlead.Waiting)
		f.resolve(again(first, 0))
		second := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1})[0]
		f.settle(to(fairlead.MoveRelease, second))
		f.wantErr(f.store.Resolve(f.ctx(), again(second, 0)), fairlead.ErrLeaseLost)
		f.resolve(again(first, 0))
		f.wantState(first, fairlead.Ready)
		f.equal("the number of recorded attempts", len(f.attempts(first)), 1)
	})
	testClaimersWithoutLease(c)
	testBothRuns(c)
}

// testClaimersWithoutLease covers all ways of having no lease, one at a time, for each way
// in which a store may claim.
func testClaimersWithoutLease(c *chapter) {
	for _, scope := range []struct {
		name    string
		queues  []string
		limited bool
	}{
		{"one queue", []string{"one"}, false},
		{"several queues", []string{"one", "two"}, false},
		{"a queue under a limit", []string{"one"}, true},
	} {
		for _, claimer := range []struct {
			name string
			node func(f *fixture) (context.Context, fairlead.NodeID)
		}{
			{"a node that left before its lease ended", func(f *fixture) (context.Context, fairlead.NodeID) {
				node := f.join()
				f.ok(f.store.Leave(f.ctx(), node))
				return f.ctx(), node
			}},
			{"a node whose lease has ended and that is not declared dead", func(f *fixture) (context.Context, fairlead.NodeID) {
				node := f.joinFor(time.Minute)
				f.Advance(2 * time.Minute)
				return f.ctx(), node
			}},
			{"a process that speaks for the node of another", func(f *fixture) (context.Context, fairlead.NodeID) {
				return driver.AsNode(f.ctx(), "another process"), f.join()
			}},
		} {
			c.test(named(claimer.name, "claims nothing from", scope.name), func(f *fixture) {
				if scope.limited {
					f.ok(f.store.SetLimit(f.ctx(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 5}))
				}
				f.enqueue(append(many(2, inQueue("one")), many(2, inQueue("two"))...)...)
				claim := driver.Claim{Node: f.join(), Scope: &driver.Scope{Kinds: everything().Kinds, Queues: scope.queues}, Max: 1}
				f.equal("what a live node claims before", len(f.claimAs(claim)), 1) // so that the store knows the limits
				ctx, node := claimer.node(f)
				claim.Node, claim.Max = node, 3
				_, err := f.store.Claim(ctx, claim)
				f.wantErr(err, fairlead.ErrLeaseLost)
				f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 3, fairlead.Running: 1})
				claim.Node = f.join()
				f.equal("what a live node claims", len(f.claimAs(claim)), 2*len(scope.queues)-1)
			})
		}
	}
}
