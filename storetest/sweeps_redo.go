package storetest

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// again marks failed items of a sweep for a retry.
func (f *fixture) again(s int64, indexes ...int64) (unknown []int64) {
	f.Helper()
	f.steer(s, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) (err error) {
		unknown, err = tx.Again(ctx, indexes)
		return err
	})
	return unknown
}

// waiting returns the items of a sweep that wait for a retry.
func (f *fixture) waiting(s int64) []int64 {
	f.Helper()
	return indexesOf(f.failed(sweep.ItemFilter{Sweep: s, Again: true}))
}

// failing stores a sweep of n shards that have ended, in which the items with the given
// indexes failed.
func (f *fixture) failing(n int, indexes ...int64) (sweep.Sweep, []*fairlead.Job) {
	f.Helper()
	s := f.cut(n)
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	f.employ(s.ID, numbers...)
	jobs := f.claim(f.join(), n)
	for i, shard := range f.shards(s.ID) {
		c := sweep.Checkpoint{Sweep: s.ID, Job: jobs[i].ID, Fence: jobs[i].Fence, Number: i, Mark: shard.To, Done: 100, Ended: true}
		for _, index := range indexes {
			if index >= shard.From && index < shard.To {
				c.Failed = append(c.Failed, sweep.FailedItem{Index: index, Attempts: 5, Error: "no"})
				c.Done, c.Abandoned = c.Done-1, c.Abandoned+1
			}
		}
		f.checkpoint(c)
	}
	return s, jobs
}

func testRetryItems(c *chapter) {
	c.test("Again lets all failed items wait to be tried again", func(f *fixture) {
		s, _ := f.failing(2, 3, 105, 120)
		other, _ := f.failing(1, 3)
		f.equal("what is unknown", len(f.again(s.ID)), 0)
		f.equal("what waits", f.waiting(s.ID), []int64{3, 105, 120})
		f.equal("what waits of another", f.waiting(other.ID), []int64{})
		f.equal("how many", f.theSweep(s.ID).Again, int64(3))
		f.equal("those behind an index and below one", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, Again: true, From: true, After: 3, Below: 120})), []int64{105})
	})
	c.test("Items that wait are listed a page at a time", func(f *fixture) {
		s, _ := f.failing(1, 3, 5, 7)
		f.again(s.ID)
		f.equal("the first page", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, Again: true, Limit: 2})), []int64{3, 5})
		f.equal("the second page", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID, Again: true, Limit: 2, From: true, After: 5})), []int64{7})
	})
	c.test("Again lets only those wait that have the indexes, beside those that do already", func(f *fixture) {
		s, _ := f.failing(2, 3, 105, 120, 130)
		f.equal("what is unknown", len(f.again(s.ID, 120, 120)), 0)
		f.equal("what waits", f.waiting(s.ID), []int64{120})
		f.again(s.ID, 3)
		f.equal("what waits then", f.waiting(s.ID), []int64{3, 120})
		f.equal("all that failed", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID})), []int64{3, 105, 120, 130})
	})
	c.test("Again returns which of the indexes are not those of failed items", func(f *fixture) {
		s, _ := f.failing(2, 3, 105)
		f.equal("what is unknown", f.again(s.ID, 7, 105), []int64{7})
	})
	c.test("Again concerns no item and no shard of another sweep", func(f *fixture) {
		other, _ := f.failing(2, 3, 7, 105)
		f.again(other.ID, 3, 7, 105)
		s, _ := f.failing(1, 5)
		f.employ(other.ID, 0, 1)
		before := f.shards(other.ID)
		f.equal("what is unknown", f.again(s.ID, 7, 5), []int64{7})
		f.equal("how many wait", f.shards(s.ID)[0].Again, int64(1))
		f.equal("the shards of the other", f.shards(other.ID), before)
	})
	c.test("Again does nothing if no item failed", func(f *fixture) {
		s, _ := f.failing(1)
		before := f.shards(s.ID)
		f.again(s.ID)
		f.equal("the shards", f.shards(s.ID), before)
	})
	c.test("Shards of which an item waits have not ended any more, and have no job", func(f *fixture) {
		s, _ := f.failing(3, 105, 120)
		want := f.shards(s.ID)
		f.again(s.ID)
		want[1].Ended, want[1].Job, want[1].Again = false, 0, 2
		f.equal("the shards", f.shards(s.ID), want)
	})
	c.test("A shard that had ended before its last item ends where it has come to", func(f *fixture) {
		s, job := f.sweeping()
		f.checkpoint(sweep.Checkpoint{
			Sweep: s.ID, Job: job.ID, Fence: job.Fence, Mark: 40, Done: 39, Abandoned: 1, Failed: []sweep.FailedItem{{Index: 2}}, Ended: true,
		})
		f.again(s.ID)
		f.equal("where it ends", f.shards(s.ID)[0].To, int64(40))
	})
	c.test("A shard that has not ended goes as far as before", func(f *fixture) {
		s, job := f.sweeping()
		f.checkpoint(sweep.Checkpoint{Sweep: s.ID, Job: job.ID, Fence: job.Fence, Mark: 40, Done: 39, Abandoned: 1, Failed: []sweep.FailedItem{{Index: 2}}})
		f.again(s.ID)
		shard := f.shards(s.ID)[0]
		f.equal("where it ends", shard.To, int64(100))
		f.equal("what waits", shard.Again, int64(1))
	})
	c.test("An item that fails waits even if it is not known how far its shard goes", func(f *fixture) {
		s := f.sweep("s")
		f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.State, s.Cut = sweep.Running, true
			return tx.Cut(ctx, []sweep.Shard{{}})
		})
		f.note(s, f.claimThe(f.employ(s.ID, 0)[0], f.join()), sweep.FailedItem{Index: 5})
		f.again(s.ID)
		f.equal("what waits", f.shards(s.ID)[0].Again, int64(1))
	})
	c.test("Again is undone if the steering is", func(f *fixture) {
		s, _ := f.failing(1, 3)
		before := f.shards(s.ID)
		_, err := f.store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			if _, err := tx.Again(ctx, nil); err != nil {
				return err
			}
			return fairlead.ErrConflict
		})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the shards", f.shards(s.ID), before)
		f.equal("what waits", f.waiting(s.ID), []int64{})
	})
}

func testItemsOfCheckpoint(c *chapter) {
	c.test("Failed items of a checkpoint are noted, one that is known is replaced", func(f *fixture) {
		s, job := f.sweeping()
		last := markAt(s, job, 10)
		last.Failed = []sweep.FailedItem{{Index: 7, Attempts: 2, Error: "a\x00"}, {Index: 4, Attempts: 1, Error: "b"}}
		f.checkpoint(last)
		last.Failed = []sweep.FailedItem{{Index: 4, Attempts: 3, Error: "c"}}
		f.checkpoint(last)
		f.equal("the items", f.failed(sweep.ItemFilter{Sweep: s.ID}), []sweep.FailedItem{
			{Sweep: s.ID, Index: 4, Attempts: 3, Error: "c", At: f.now()}, {Sweep: s.ID, Index: 7, Attempts: 2, Error: "a\uFFFD", At: f.now()},
		})
	})
	c.test("A checkpoint may tell of many items", func(f *fixture) {
		s, job := f.sweeping()
		last := markAt(s, job, 10)
		for i := range int64(3000) {
			last.Failed = append(last.Failed, sweep.FailedItem{Index: 2 * i, Error: "no"})
		}
		f.checkpoint(last)
		f.checkpoint(last)
		f.equal("the items", len(f.failed(sweep.ItemFilter{Sweep: s.ID, Limit: 5000})), 3000)
		for i := range last.Failed {
			last.Redone = append(last.Redone, last.Failed[i].Index)
		}
		last.Failed = nil
		f.checkpoint(last)
		f.equal("the items then", len(f.failed(sweep.ItemFilter{Sweep: s.ID})), 0)
	})
	c.test("An item that came to nothing again does not wait any more", func(f *fixture) {
		s, job := f.rerun()
		last := markAt(s, job, 100)
		last.Done, last.Abandoned, last.Again = 97, 3, 2
		last.Failed = []sweep.FailedItem{{Index: 5, Attempts: 9, Error: "still"}}
		f.checkpoint(last)
		f.equal("what waits", f.waiting(s.ID), []int64{3, 7})
		f.equal("the item", f.failed(sweep.ItemFilter{Sweep: s.ID})[1], sweep.FailedItem{Sweep: s.ID, Index: 5, Attempts: 9, Error: "still", At: f.now()})
		f.equal("how many", f.theSweep(s.ID).Again, int64(2))
	})
	c.test("Redone items are forgotten", func(f *fixture) {
		s, job := f.rerun()
		last := markAt(s, job, 100)
		last.Done, last.Abandoned, last.Again, last.Redone = 99, 1, 1, []int64{7, 3, 50}
		f.checkpoint(last)
		f.checkpoint(last) // the same report may arrive twice
		f.equal("the items", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID})), []int64{5})
		f.equal("what waits", f.waiting(s.ID), []int64{5})
	})
	c.test("Those of another sweep are not", func(f *fixture) {
		other, _ := f.failing(2, 3, 7)
		s, job := f.rerun()
		last := markAt(s, job, 100)
		last.Redone = []int64{3, 7}
		f.checkpoint(last)
		f.equal("the items", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID})), []int64{5})
		f.equal("the items of the other", indexesOf(f.failed(sweep.ItemFilter{Sweep: other.ID})), []int64{3, 7})
	})
	c.test("If the shard has ended none of its items waits to be tried again", func(f *fixture) {
		s, job := f.rerun()
		last := markAt(s, job, 100)
		last.Done, last.Abandoned, last.Again, last.Ended = 98, 2, 2, true
		last.Redone, last.Failed = []int64{3}, []sweep.FailedItem{{Index: 5, Error: "still"}}
		f.checkpoint(last)
		f.equal("what waits", f.waiting(s.ID), []int64{})
		f.equal("the items", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID})), []int64{5, 7})
		f.equal("how many", f.shards(s.ID)[0].Again, int64(0))
	})
	c.test("Items of other shards and of other sweeps wait on", func(f *fixture) {
		for _, at := range []int64{1, 500} { // one with shards before those that have ended, one with shards after them
			s := f.sweep(fmt.Sprint("at ", at))
			f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
				s.State, s.Cut = sweep.Running, true
				return tx.Cut(ctx, []sweep.Shard{{From: at, To: at + 1, Mark: at}, {Number: 1, From: at + 1, To: at + 2, Mark: at + 1}})
			})
		}
		other, _ := f.failing(4, 103, 203)
		f.again(other.ID)
		s, _ := f.failing(3, 3, 103, 104, 203)
		f.again(s.ID)
		f.employ(s.ID, 1)
		job := f.claimOne(f.join())
		f.checkpoint(sweep.Checkpoint{Sweep: s.ID, Number: 1, Job: job.ID, Fence: job.Fence, Mark: 200, Done: 98, Abandoned: 2, Ended: true})
		f.equal("what waits", f.waiting(s.ID), []int64{3, 203})
		f.equal("what waits of another sweep", f.waiting(other.ID), []int64{103, 203})
	})
	c.test("None waits either if the run that ends the shard knows nothing of them", func(f *fixture) {
		s, job := f.rerun()
		last := markAt(s, job, 100)
		last.Ended = true
		f.checkpoint(last)
		f.equal("what waits", f.waiting(s.ID), []int64{})
	})
	c.test("A checkpoint that is refused tells nothing of items", func(f *fixture) {
		s, job := f.rerun()
		before := f.failed(sweep.ItemFilter{Sweep: s.ID})
		lost, behind := markAt(s, job, 100), markAt(s, job, 99)
		lost.Fence++
		for _, refused := range []struct {
			sweep.Checkpoint
			want error
		}{{lost, fairlead.ErrLeaseLost}, {behind, fairlead.ErrConflict}} {
			last := refused.Checkpoint
			last.Redone, last.Failed, last.Again, last.Ended = []int64{3}, []sweep.FailedItem{{Index: 5}, {Index: 6}}, 1, true
			f.wantRefused(last, refused.want)
			f.equal("the items", f.failed(sweep.ItemFilter{Sweep: s.ID}), before)
		}
	})
	c.test("Items of another sweep take nothing from the budget", func(f *fixture) {
		f.failing(2, 3, 5, 105)
		s, job := f.sweeping()
		now := f.theSweep(s.ID)
		now.Budget = sweep.Budget{Items: 10}
		f.putSweep(now)
		last := markAt(s, job, 10)
		last.Done, last.Abandoned = 9, 1
		f.equal("what is left", f.checkpoint(last).Left, int64(9))
	})
	c.test("Items that wait to be tried again take nothing from the budget, those that came to nothing again do", func(f *fixture) {
		s, job := f.rerun()
		now := f.theSweep(s.ID)
		now.Budget = sweep.Budget{Items: 10}
		f.putSweep(now)
		last := markAt(s, job, 100)
		for _, step := range []struct{ done, abandoned, again, left int64 }{{97, 3, 3, 10}, {98, 2, 2, 10}, {98, 2, 1, 9}, {98, 2, 0, 8}} {
			last.Done, last.Abandoned, last.Again = step.done, step.abandoned, step.again
			f.equal("what is left", f.checkpoint(last).Left, step.left)
		}
	})
}

// rerun stores a sweep of one shard with three items that wait for a retry, and claims its
// job.
func (f *fixture) rerun() (sweep.Sweep, *fairlead.Job) {
	f.Helper()
	s, _ := f.failing(1, 3, 5, 7)
	f.again(s.ID)
	return s, f.claimThe(f.employ(s.ID, 0)[0], f.join())
}
