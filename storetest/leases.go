package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// testLeases is about runs and nodes that resemble others: what counts is whose lease it
// is.
func testLeases(c *chapter) {
	c.test("Prune leaves a node alone while its lease lasts, however long ago it beat", func(f *fixture) {
		node := f.joinFor(100 * time.Hour)
		f.Advance(99 * time.Hour)
		_, err := f.store.Prune(f.ctx(), fairlead.Retention{}, 10)
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
		f.equal("what is reaped", f.reap(), fairlead.Reaped{Jobs: 1})
		f.lived(second)
		f.wantSurvivor(first, 1, fairlead.ReasonCrash, fairlead.ReasonLeaseLost)
	})
	c.test("an answer is no repetition of that to an earlier run, be it in the same words", func(f *fixture) {
		first := f.in(fairlead.Waiting)
		f.resolve(again(first, 0))
		second := f.claimAs(fairlead.Claim{Node: f.join(), Scope: everything(), Max: 1})[0]
		f.settle(to(fairlead.GiveUp, second))
		f.wantErr(f.store.Resolve(f.ctx(), again(second, 0)), fairlead.ErrLeaseLost)
		f.resolve(again(first, 0))
		f.wantState(first, fairlead.Ready)
		f.equal("the number of recorded attempts", len(f.attempts(first)), 1)
	})
}
