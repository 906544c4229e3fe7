package fairlead_test

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// aggregate is what is written of the state of a batch, word by word.
func aggregate(tasks []fairlead.TaskState, cancelled bool) fairlead.BatchState {
	is := func(some ...fairlead.TaskState) func(fairlead.TaskState) bool {
		return func(state fairlead.TaskState) bool { return slices.Contains(some, state) }
	}
	anyIs := func(some ...fairlead.TaskState) bool { return slices.ContainsFunc(tasks, is(some...)) }
	all := func(one fairlead.TaskState) bool {
		return !slices.ContainsFunc(tasks, func(state fairlead.TaskState) bool { return state != one })
	}
	finished := anyIs(fairlead.TaskRollbackSuccess, fairlead.TaskRollbackFail)
	if anyIs(fairlead.TaskRollbackRunning) || anyIs(fairlead.TaskRollbackPending) && finished {
		return fairlead.BatchRollbackRunning
	}
	if anyIs(fairlead.TaskRollbackPending) {
		return fairlead.BatchRollbackPending
	}
	if anyIs(fairlead.TaskRollbackFail) {
		return fairlead.BatchRollbackFail
	}
	if anyIs(fairlead.TaskRollbackSuccess) && !anyIs(fairlead.TaskSuccess) {
		return fairlead.BatchRollbackSuccess
	}
	tasks = slices.DeleteFunc(tasks, is(fairlead.TaskRollbackSuccess))
	switch {
	case cancelled:
		return fairlead.BatchCancel
	case all(fairlead.TaskPending):
		return fairlead.BatchPending
	case anyIs(fairlead.TaskPending, fairlead.TaskRetryPending, fairlead.TaskRunning):
		return fairlead.BatchRunning
	case all(fairlead.TaskSuccess):
		return fairlead.BatchSuccess
	case all(fairlead.TaskFail):
		return fairlead.BatchFail
	}
	return fairlead.BatchPartialFail
}

func TestTheStateOfABatchIsThatOfItsTasks(t *testing.T) {
	states := fairlead.TaskStates()
	seen := map[fairlead.BatchState]bool{}
	var choose func(next int, tally fairlead.Tally, tasks []fairlead.TaskState)
	choose = func(next int, tally fairlead.Tally, tasks []fairlead.TaskState) {
		if next < len(states) {
			for n := range 3 {
				*tally.Of(states[next]) = n
				choose(next+1, tally, append(tasks, slices.Repeat(states[next:next+1], n)...))
			}
			return
		}
		for _, cancelled := range []bool{false, true} {
			got, want := fairlead.Aggregate(tally, cancelled), aggregate(slices.Clone(tasks), cancelled)
			seen[got] = true
			if got != want {
				t.Fatalf("%+v, cancelled %t: got %s, want %s", tally, cancelled, got, want)
			}
		}
		if tally.Total() != len(tasks) {
			t.Fatalf("%+v: the total is %d, want %d", tally, tally.Total(), len(tasks))
		}
	}
	choose(0, fairlead.Tally{}, nil)
	if len(seen) != 10 {
		t.Errorf("only %v come about", seen)
	}
}
