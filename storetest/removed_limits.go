package storetest

import (
	"testing"

	"github.com/fairlead-io/fairlead"
)

// RemovedLimits covers limits that were removed. left returns the number of remaining rows
// of limits and their counts. Only a store's own test can inspect these, so RemovedLimits
// is not part of Run.
func RemovedLimits(t *testing.T, h *Harness, left func() int) {
	f := &fixture{TB: t, Harness: h, outer: t, store: h.Open(t)}
	set := func(most int) {
		t.Helper()
		f.ok(f.store.SetLimit(f.ctx(), fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, MaxRunning: most}))
	}
	running := func(what string, want int) {
		t.Helper()
		limits, err := f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("how many limits there are "+what, len(limits), 1)
		f.equal("how many jobs count "+what, limits[0].Running, want)
	}
	settle := func(jobs ...*fairlead.Job) {
		t.Helper()
		for _, job := range jobs {
			_, err := SettleAll(f.ctx(), f.store, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}})
			f.ok(err)
		}
	}
	node := f.join()
	set(10)
	f.enqueue(many(3)...)
	jobs := f.claim(node, 3)
	f.equal("how many were claimed", len(jobs), 3)
	set(0)
	f.prune(100)
	set(10)
	running("while three run", 3)
	set(0)
	settle(jobs[0])
	f.prune(100)
	set(10)
	running("while two run", 2)
	set(0)
	settle(jobs[1:]...)
	f.prune(100)
	f.equal("what is left when none runs", left(), 0)
	set(1)
	f.enqueue(many(2)...)
	f.equal("how many start under the limit that was set anew", len(f.claim(node, 3)), 1)
	f.wantNoDrift()
}
