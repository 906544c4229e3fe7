package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// testFinishedFrom tries Filter.FinishedFrom.
func testFinishedFrom(c *chapter) {
	c.test("FinishedFrom chooses jobs that ended then or later", func(f *fixture) {
		late := f.running()
		early := f.running(forTenant("other"))
		f.settle(to(fairlead.Fail, early))
		f.Advance(time.Second)
		then := f.now()
		f.settle(to(fairlead.Fail, late)) // an older job that ends later
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
