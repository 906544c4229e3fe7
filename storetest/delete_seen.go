package storetest

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// testDeleteSeen covers jobs that may have changed since a caller read them.
func testDeleteSeen(c *chapter) {
	for _, state := range except(fairlead.Running, fairlead.Waiting) {
		c.test(named("DeleteSeen removes a", state, "job that is as it was seen"), func(f *fixture) {
			job := f.get(f.in(state))
			f.ok(f.store.Operate(f.ctx(), job.ID, fairlead.Operation{Op: fairlead.OpDelete, Seen: job}))
			f.wantGone(job)
			f.wantErr(f.store.Operate(f.ctx(), job.ID, fairlead.Operation{Op: fairlead.OpDelete, Seen: job}), fairlead.ErrNotFound)
		})
	}
	for what, change := range map[string]func(f *fixture, job *fairlead.Job){
		"was retried":               func(*fixture, *fairlead.Job) {},
		"was retried and runs":      func(f *fixture, job *fairlead.Job) { f.claimThe(job, f.join()) },
		"was retried and failed":    func(f *fixture, job *fairlead.Job) { f.settle(to(fairlead.Fail, f.claimThe(job, f.join()))) },
		"was retried and cancelled": func(f *fixture, job *fairlead.Job) { f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "")) },
	} {
		c.test(named("DeleteSeen conflicts if a failed job", what, "since it was seen, and the job stays"), func(f *fixture) {
			seen := f.get(f.in(fairlead.Failed, keyed("k")))
			f.ok(operations(f.store).Reopen(f.ctx(), seen.ID))
			change(f, seen)
			before := f.get(seen)
			f.wantErr(f.store.Operate(f.ctx(), seen.ID, fairlead.Operation{Op: fairlead.OpDelete, Seen: seen}), fairlead.ErrConflict)
			f.equal("the job", f.get(seen), before)
		})
	}
	c.test("of DeleteSeen and Reopen exactly one wins", func(f *fixture) {
		for range f.size(5, 30, "races") {
			seen := f.get(f.in(fairlead.Failed))
			errs := f.rivals(2, func(i int, store Store) error {
				if i == 0 {
					return store.Operate(f.ctx(), seen.ID, fairlead.Operation{Op: fairlead.OpDelete, Seen: seen})
				}
				return operations(store).Reopen(f.ctx(), seen.ID)
			})
			switch {
			case errs[0] == nil:
				f.wantErr(errs[1], fairlead.ErrNotFound)
				f.wantGone(seen)
			default:
				f.wantErr(errs[0], fairlead.ErrConflict)
				f.ok(errs[1])
				f.wantState(seen, fairlead.Ready)
				f.ok(operations(f.store).Delete(f.ctx(), seen.ID))
			}
		}
	})
	for _, action := range []bulk.Action{bulk.Retry, bulk.Delete} {
		c.test(named("a step of", action, "by cause leaves a job that has run again since it was found"), func(f *fixture) {
			seen, same := f.get(f.in(fairlead.Failed)), f.get(f.in(fairlead.Failed))
			run := f.begun(bulk.Bulk{Action: action, Cause: "boom", Filter: fairlead.Filter{States: []fairlead.State{fairlead.Failed}}})
			f.ok(operations(f.store).Reopen(f.ctx(), seen.ID))
			f.settle(to(fairlead.Fail, f.claimThe(seen, f.join())))
			before := f.get(seen)
			run.step(0, same, seen)
			f.equal("the job", f.get(seen), before)
			run.wantCounts(1, 1)
		})
	}
}
