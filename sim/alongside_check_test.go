package sim

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// alongside is a healthy run with two batches, of which the second was rolled back, and
// a sweep.
func alongside() Record {
	r := healthy()
	r.Batches = []EndedBatch{
		{ID: 1, Tasks: 2, State: fairlead.BatchSuccess, Tally: fairlead.Tally{Success: 2}, Targets: map[string]int{string(written): 2}},
		{ID: 2, Tasks: 2, Undone: true, State: fairlead.BatchRollbackSuccess, Tally: fairlead.Tally{RollbackSuccess: 2}, Targets: map[string]int{string(untouched): 2}},
	}
	const items = 10
	r.Items = items
	r.Swept = &SweepRecord{Sweep: fairlead.Sweep{SweepStatus: fairlead.SweepStatus{State: fairlead.SweepFinished, SweepProgress: fairlead.SweepProgress{Done: items, Marked: items}}}}
	r.Final = append(r.Final, Final{Job: 50, Ending: success, Other: true})
	return r
}

func TestCheckFindsNothingInAHealthyRunOfEverything(t *testing.T) {
	for _, v := range Check(alongside()).Violations {
		t.Error(v)
	}
}

func TestCheckFindsWhatIsWrongBesideTheJobs(t *testing.T) {
	for _, bug := range []struct {
		name  string
		rule  string
		plant func(r *Record)
	}{
		{"a task of a batch was not counted", BatchesWhole, func(r *Record) { r.Batches[0].Tally.Success-- }},
		{"a task that succeeded was counted as cancelled", BatchesWhole, func(r *Record) {
			r.Batches[0].State, r.Batches[0].Tally = fairlead.BatchPartialFail, fairlead.Tally{Success: 1, Cancel: 1}
		}},
		{"a batch succeeded, and a target was not written", BatchesWhole, func(r *Record) {
			r.Batches[0].Targets = map[string]int{string(written): 1, string(untouched): 1}
		}},
		{"a batch was rolled back, and a target was not", BatchesWhole, func(r *Record) {
			r.Batches[1].Targets = map[string]int{string(written): 1, string(untouched): 1}
		}},
		{"a batch was not rolled back at all", BatchesWhole, func(r *Record) {
			r.Batches[1].State, r.Batches[1].Tally = fairlead.BatchSuccess, fairlead.Tally{Success: 2}
		}},
		{"an item was left out", SweepWhole, func(r *Record) { r.Swept.Missing = 1 }},
		{"a mark moved backwards", SweepWhole, func(r *Record) { r.Swept.Backwards = []string{"shard 0 from 5 to 4"} }},
		{"a sweep did not count an item", SweepWhole, func(r *Record) { r.Swept.Sweep.Done-- }},
		{"a sweep never finished", SweepWhole, func(r *Record) { r.Swept.Sweep.State = fairlead.SweepRunning }},
	} {
		t.Run(bug.name, func(t *testing.T) {
			r := alongside()
			bug.plant(&r)
			if verdict := Check(r); !slices.ContainsFunc(verdict.Violations, func(v Violation) bool { return v.Rule == bug.rule }) {
				t.Errorf("not found; the violations are %v", verdict.Violations)
			}
		})
	}
}
