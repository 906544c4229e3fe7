package storetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// recall takes back jobs of a range under the lock of a batch.
func (f *fixture) recall(batch, first, last int64) (recalled []int64) {
	f.Helper()
	f.conduct(batch, func(ctx context.Context, _ *fairlead.Batch, tx fairlead.BatchTx) (err error) {
		recalled, err = tx.Recall(ctx, first, last)
		return err
	})
	return recalled
}

func testRecall(c *chapter) {
	c.test("Recall removes the jobs of a range of IDs that are scheduled or ready, and tells which these were, in order", func(f *fixture) {
		b, p := f.opened(8)
		jobs := f.letOut(b, p)
		claimed := f.claim(f.join(), 5)
		f.settle(to(fairlead.Succeed, claimed[0]), to(fairlead.Fail, claimed[1]), wait(claimed[2]), again(claimed[3], time.Hour))
		f.equal("what was recalled", f.recall(b.ID, p.First, p.Last()-1), []int64{jobs[3].ID, jobs[5].ID, jobs[6].ID})
		for i, want := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Waiting, "", fairlead.Running, "", "", fairlead.Ready} {
			if want == "" {
				f.wantGone(jobs[i])
			} else {
				f.wantState(jobs[i], want)
			}
		}
		f.equal("what is recalled then", len(f.recall(b.ID, p.First, p.Last()-1)), 0)
		f.equal("what can still be claimed", ids(f.claim(f.join(), 10)), []int64{jobs[7].ID})
		f.Advance(2 * time.Hour)
		f.equal("what becomes due", f.promote().Moved, 0)
	})
	c.test("all that is known of a recalled job is gone when it is let out again", func(f *fixture) {
		b, p := f.opened(2)
		jobs := f.letOut(b, p)
		for range 2 {
			for _, job := range f.claim(f.join(), 2) {
				f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence, Memo: json.RawMessage(`1`), Progress: json.RawMessage(`2`)}))
				f.settle(again(job, time.Minute))
			}
			f.equal("what was recalled", f.recall(b.ID, p.First, p.Last()), ids(jobs))
			f.wantGone(jobs[0])
			f.letOut(b, p)
			found := f.wantState(jobs[1], fairlead.Ready)
			f.equal("its attempts", found.Attempt+found.Failures+len(f.attempts(jobs[1])), 0)
			f.equal("its memo and progress", string(found.Memo)+string(found.Progress), "")
		}
		f.equal("what is claimed", ids(f.claim(f.join(), 10)), ids(jobs))
	})
	c.test("Recall removes parked jobs and those with a key, and gives back their places and keys", func(f *fixture) {
		b := f.batch()
		jobs := many(3, behind("door"))
		jobs[0].Key = "k"
		f.enqueue(jobs...)
		f.wantState(jobs[1], fairlead.Parked)
		f.equal("what was recalled", f.recall(b.ID, jobs[0].ID, jobs[1].ID), ids(jobs[:2]))
		f.wantGone(jobs[1])
		f.wantState(jobs[2], fairlead.Ready)
		f.wantFree("k")
		f.equal("what was recalled", f.recall(b.ID, jobs[2].ID, jobs[2].ID), ids(jobs[2:]))
	})
}
