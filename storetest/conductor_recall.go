package storetest

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// recall takes back the jobs in a range under the lock of a batch.
func (f *fixture) recall(b, first, last int64) (recalled []int64) {
	f.Helper()
	f.conduct(b, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
		recalled, err = tx.Recall(ctx, first, last)
		return err
	})
	return recalled
}

func testRecall(c *chapter) {
	c.test("Recall removes the jobs of a range of IDs that have never been started, and tells which these were, in order", func(f *fixture) {
		b, p := f.opened(10)
		jobs := f.letOut(b, p)
		claimed := f.claim(f.join(), 7)
		unstarted := to(fairlead.MoveRelease, claimed[5])
		unstarted.Unstarted = true
		f.settle(to(fairlead.Succeed, claimed[0]), to(fairlead.Fail, claimed[1]), wait(claimed[2]), again(claimed[3], time.Hour),
			again(claimed[4], 0), unstarted)
		f.equal("what was recalled", f.recall(b.ID, p.First, p.Last()-1), []int64{jobs[5].ID, jobs[7].ID, jobs[8].ID})
		for i, want := range []fairlead.State{
			fairlead.Succeeded, fairlead.Failed, fairlead.Waiting, fairlead.Scheduled, fairlead.Ready, "", fairlead.Running, "", "", fairlead.Ready,
		} {
			if want == "" {
				f.wantGone(jobs[i])
			} else {
				f.wantState(jobs[i], want)
			}
		}
		f.equal("the attempts of one that was started", len(f.attempts(jobs[3])), 1)
		f.equal("what is recalled then", len(f.recall(b.ID, p.First, p.Last()-1)), 0)
		f.equal("what can still be claimed", sorted(ids(f.claim(f.join(), 10))), []int64{jobs[4].ID, jobs[9].ID})
		f.Advance(2 * time.Hour)
		f.equal("what becomes due", f.promote().Moved, 1)
	})
	c.test("a recalled job can be let out again", func(f *fixture) {
		b, p := f.opened(2)
		for range 3 {
			jobs := f.letOut(b, p)
			f.equal("what was recalled", f.recall(b.ID, p.First, p.Last()), ids(jobs))
			f.wantGone(jobs[0])
			f.Advance(time.Second)
		}
		jobs := f.letOut(b, p)
		f.equal("when it was made", f.wantState(jobs[1], fairlead.Ready).CreatedAt, f.now())
		f.equal("what is claimed", ids(f.claim(f.join(), 10)), ids(jobs))
	})
	c.test("Recall removes scheduled and parked jobs, and gives back places and keys", func(f *fixture) {
		b := f.batch()
		jobs := many(4, behind("door"))
		jobs[0].Key = "k"
		jobs[2].NotBefore = f.now().Add(time.Hour)
		f.enqueue(jobs...)
		f.wantState(jobs[1], fairlead.Parked)
		f.wantState(jobs[2], fairlead.Scheduled)
		f.equal("what was recalled", f.recall(b.ID, jobs[0].ID, jobs[2].ID), ids(jobs[:3]))
		for _, job := range jobs[:3] {
			f.wantGone(job)
		}
		f.wantState(jobs[3], fairlead.Ready)
		f.wantFree("k")
		f.Advance(2 * time.Hour)
		f.equal("what becomes due", f.promote().Moved, 0)
		f.equal("what was recalled", f.recall(b.ID, jobs[3].ID, jobs[3].ID), ids(jobs[3:]))
	})
}
