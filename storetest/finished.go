package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// testFinishedFrom covers Filter.FinishedFrom.
func testFinishedFrom(c *chapter) {
	c.test("FinishedFrom chooses jobs that ended then or later", func(f *fixture) {
		late := f.running()
		early := f.running(forTenant("other"))
		f.settle(to(fairlead.Fail, early))
		f.Advance(time.Second)
		then := f.now()
		f.settle(to(fairlead.Fail, late)) // an older job, but it ends later
		f.Advance(time.Second)
		last := f.running(forTenant("other"))
		f.settle(to(fairlead.Succeed, last))

		failed := []fairlead.State{fairlead.Failed}
		for _, example := range []struct {
			filter fairlead.Filter
			want   []int64
		}{
			{fairlead.Filter{FinishedFrom: then}, []int64{last.ID, late.ID}},
			{fairlead.Filter{FinishedFrom: then, States: failed}, []int64{late.ID}},
			{fairlead.Filter{FinishedFrom: then.Add(-time.Second), States: failed}, []int64{early.ID, late.ID}},
			{fairlead.Filter{FinishedFrom: then.Add(-time.Second), States: failed, Tenants: []string{"other"}}, []int64{early.ID}},
			{fairlead.Filter{FinishedFrom: then.Add(-time.Second), States: failed, Below: early.ID}, []int64{late.ID}},
			{fairlead.Filter{FinishedFrom: then.Add(-time.Second), States: failed, Limit: 1}, []int64{early.ID}},
			{fairlead.Filter{FinishedFrom: then.Add(time.Microsecond), States: failed}, nil},
		} {
			f.equal("the jobs", ids(f.find(example.filter)), example.want)
		}
		f.equal("the tally", f.tally(fairlead.Filter{FinishedFrom: then}), map[fairlead.State]int64{fairlead.Failed: 1, fairlead.Succeeded: 1})
	})
	c.test("OnFail chooses jobs by what becomes of them when they fail, in every state", func(f *fixture) {
		remove := func(j *fairlead.Job) { j.OnFail = fairlead.RemoveFailed }
		for _, state := range possible() {
			kept, removed := f.in(state), f.in(state, remove)
			for onFail, want := range map[fairlead.OnFail]*fairlead.Job{fairlead.KeepFailed: kept, fairlead.RemoveFailed: removed} {
				filter := fairlead.Filter{States: []fairlead.State{state}, OnFail: onFail}
				found, err := f.store.Find(f.ctx(), filter)
				f.ok(err)
				f.equal(named("what is found by", filter), ids(found), []int64{want.ID})
				f.equal("OnFail", found[0].OnFail == fairlead.RemoveFailed, onFail == fairlead.RemoveFailed)
				page, err := f.store.FindPage(f.ctx(), filter)
				f.ok(err)
				f.equal(named("the page found by", filter), ids(page.Jobs), []int64{want.ID})
				f.equal(named("the tally of", filter), f.tally(filter), map[fairlead.State]int64{state: 1})
			}
		}
		f.Advance(time.Hour)
		late := f.in(fairlead.Failed, remove)
		f.in(fairlead.Failed)
		page, err := f.store.FindPage(f.ctx(), fairlead.Filter{States: []fairlead.State{fairlead.Failed}, OnFail: fairlead.RemoveFailed, FinishedFrom: f.now()})
		f.ok(err)
		f.equal("what failed just now and is to be removed", ids(page.Jobs), []int64{late.ID})
	})
	c.test("FinishedFrom chooses no job that is live", func(f *fixture) {
		for _, state := range possible() {
			f.in(state)
		}
		for _, job := range f.find(fairlead.Filter{FinishedFrom: time.Unix(1, 0)}) {
			if !job.State.Final() {
				f.Errorf("job %d is %s", job.ID, job.State)
			}
		}
		f.equal("those that are ready", ids(f.find(fairlead.Filter{FinishedFrom: time.Unix(1, 0), States: []fairlead.State{fairlead.Ready}})), []int64(nil))
	})
}
