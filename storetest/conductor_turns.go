package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// testTurns covers batches with released tasks at the same time (source 000: all unfinished
// batches make progress side by side, whatever their size).
func testTurns(c *chapter) {
	c.test("the tasks of a small batch take turns with those of a large one that was first", func(f *fixture) {
		large, _ := f.opened(200)
		f.release(large)
		f.Advance(time.Minute)
		small, _ := f.opened(3)
		f.release(small)
		f.equal("whose turn it is", f.turns(f.join(), 8), []int64{large.ID, small.ID, large.ID, small.ID, large.ID, small.ID, large.ID, large.ID})
	})
	c.test("no task has missed its start because it waited for its turn", func(f *fixture) {
		tasks := f.size(40, 200, "has more tasks")
		b, _ := f.opened(tasks)
		f.release(b)
		f.Advance(time.Minute)
		node := f.join()
		for range tasks {
			if job := f.claimTask(node); driver.MissedStart(job) {
				f.Fatalf("a task that was to start by %v, made at %v, has missed it", job.StartBy, job.CreatedAt)
			}
		}
	})
	c.test("a batch that comes while tasks of others run stands beside those that wait", func(f *fixture) {
		large, _ := f.opened(200)
		f.release(large)
		node := f.join()
		for range 20 {
			f.settle(to(fairlead.Succeed, f.claimTask(node)))
		}
		f.Advance(time.Second)
		f.release(large)
		small, _ := f.opened(2)
		f.release(small)
		f.equal("whose turn it is", f.turns(node, 5), []int64{large.ID, small.ID, large.ID, small.ID, large.ID})
	})
	c.test("a batch of another priority or queue has turns of its own", func(f *fixture) {
		large, _ := f.opened(50)
		f.release(large)
		f.Advance(time.Second)
		later, _ := f.opened(3, func(b *batch.Batch) { b.Priority = -1 })
		f.release(later)
		f.equal("whose turn it is", f.turns(f.join(), 53), append(repeated(large.ID, 50), repeated(later.ID, 3)...))
		elsewhere, _ := f.opened(3, func(b *batch.Batch) { b.Queue = "elsewhere" })
		f.release(elsewhere)
		f.equal("by when its tasks are to start", f.claimTask(f.join()).StartBy.Before(f.now().Add(-time.Second/2)), false)
	})
}

// release checks a batch once, like a node.
func (f *fixture) release(b batch.Batch) {
	f.Helper()
	_, err := batch.Conduct(f.ctx(), f.store, b.ID)
	f.ok(err)
}

// claimTask claims the next task of any batch.
func (f *fixture) claimTask(node fairlead.NodeID) *fairlead.Job {
	f.Helper()
	scope := &driver.Scope{Queues: []string{fairlead.DefaultQueue, "elsewhere"}, Kinds: []string{batch.TaskKind("box", "move")}}
	jobs := f.claimAs(driver.Claim{Node: node, Scope: scope, Max: 1})
	if len(jobs) != 1 {
		f.Fatal("there is no task to claim")
	}
	return jobs[0]
}

// turns claims tasks one by one, and returns their batches.
func (f *fixture) turns(node fairlead.NodeID, n int) (batches []int64) {
	f.Helper()
	for range n {
		batches = append(batches, f.claimTask(node).Batch)
	}
	return batches
}

func repeated(id int64, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = id
	}
	return ids
}
