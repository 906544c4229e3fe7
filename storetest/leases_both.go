package storetest

import (
	"github.com/fairlead-io/fairlead"
)

// testBothRuns covers calls that settle two runs of the same job: a process may have lost
// the lease of one and claimed the job again.
func testBothRuns(c *chapter) {
	for _, way := range []struct {
		name   string
		settle func(job *fairlead.Job) fairlead.Settlement
		early  bool
		state  fairlead.State
	}{
		{"succeed", func(job *fairlead.Job) fairlead.Settlement { return success(job, `1`) }, false, fairlead.Succeeded},
		{"fail", func(job *fairlead.Job) fairlead.Settlement { return failure(job, "no") }, false, fairlead.Failed},
		{"are tried again", func(job *fairlead.Job) fairlead.Settlement { return again(job, 0) }, false, fairlead.Ready},
		{"wait", wait, false, fairlead.Waiting},
		{"wait for an answer that is there", wait, true, fairlead.Succeeded},
	} {
		for _, lateFirst := range []bool{true, false} {
			order := "the lost one last"
			if lateFirst {
				order = "the lost one first"
			}
			c.test(named("of two runs of a job that", way.name, "in one call only the lost one is lost,", order), func(f *fixture) {
				late := f.running()
				current := f.claimAfterCrash(late)
				if way.early {
					f.resolve(success(current, `2`))
				}
				settlements, want := []fairlead.Settlement{way.settle(current), way.settle(late)}, []fairlead.Settled{asAsked, lost}
				if lateFirst {
					settlements, want = []fairlead.Settlement{settlements[1], settlements[0]}, []fairlead.Settled{lost, asAsked}
				}
				f.wantSettled(want, settlements...)
				f.wantState(current, way.state)
			})
		}
	}
}
