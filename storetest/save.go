package storetest

import (
	"encoding/json"

	"github.com/fairlead-io/fairlead"
)

func testSave(c *chapter) {
	save := func(job *fairlead.Job, progress, memo string) fairlead.Save {
		s := fairlead.Save{ID: job.ID, Fence: job.Fence}
		if progress != "" {
			s.Progress = json.RawMessage(progress)
		}
		if memo != "" {
			s.Memo = json.RawMessage(memo)
		}
		return s
	}
	c.test("it keeps progress and memo of a running job", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Save(f.ctx(), save(job, `{"done": 10}`, `"page 3"`)))
		found := f.wantState(job, fairlead.Running)
		f.equal("Progress", string(found.Progress), `{"done": 10}`)
		f.equal("Memo", string(found.Memo), `"page 3"`)
		f.equal("Fence", found.Fence, job.Fence)
	})
	c.test("what it does not name stays as it was", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Save(f.ctx(), save(job, `1`, ``)))
		f.ok(f.store.Save(f.ctx(), save(job, ``, `2`)))
		f.ok(f.store.Save(f.ctx(), save(job, ``, ``)))
		found := f.get(job)
		f.equal("Progress", string(found.Progress), `1`)
		f.equal("Memo", string(found.Memo), `2`)
		f.ok(f.store.Save(f.ctx(), save(job, `3`, ``)))
		found = f.get(job)
		f.equal("Progress", string(found.Progress), `3`)
		f.equal("Memo", string(found.Memo), `2`)
	})
	c.test("it forgets the job's crashes", func(f *fixture) {
		job := f.enqueue(plain())
		f.crash(f.claimThe(job, f.join()))
		f.crash(f.claimThe(job, f.join()))
		claimed := f.claimThe(job, f.join())
		f.equal("Crashes before", claimed.Crashes, 2)
		f.ok(f.store.Save(f.ctx(), save(claimed, `1`, ``)))
		f.equal("Crashes after", f.get(job).Crashes, 0)
		f.crash(claimed)
		f.equal("Crashes after the next", f.wantState(job, fairlead.Ready).Crashes, 1)
	})
	c.test("the memo survives a crash", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Save(f.ctx(), save(job, ``, `"kept"`)))
		f.crash(job)
		f.equal("Memo", string(f.claimThe(job, f.join()).Memo), `"kept"`)
	})
	c.test("it fails with ErrLeaseLost unless the fence is that of the running job", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		f.wantErr(f.store.Save(f.ctx(), save(job, `1`, `1`)), fairlead.ErrLeaseLost)
		current := f.claimThe(job, f.join())
		f.wantErr(f.store.Save(f.ctx(), save(job, `1`, `1`)), fairlead.ErrLeaseLost)
		found := f.get(job)
		f.equal("Progress", string(found.Progress), "")
		f.equal("Memo", string(found.Memo), "")
		f.settle(to(fairlead.Succeed, current))
		f.wantErr(f.store.Save(f.ctx(), save(current, `1`, `1`)), fairlead.ErrLeaseLost)
		f.wantErr(f.store.Save(f.ctx(), fairlead.Save{ID: unknown, Fence: 1, Memo: json.RawMessage(`1`)}), fairlead.ErrLeaseLost)
	})
	c.test("a waiting job is not running", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.wantErr(f.store.Save(f.ctx(), save(job, `1`, `1`)), fairlead.ErrLeaseLost)
	})
}
