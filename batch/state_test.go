package batch_test

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/batch"
)

// aggregate is what is written of the state of a batch, word by word.
func aggregate(tasks []batch.TaskState, cancelled bool) batch.State {
	is := func(some ...batch.TaskState) func(batch.TaskState) bool {
		return func(state batch.TaskState) bool { return slices.Contains(some, state) }
	}
	anyIs := func(some ...batch.TaskState) bool { return slices.ContainsFunc(tasks, is(some...)) }
	all := func(one batch.TaskState) bool {
		return !slices.ContainsFunc(tasks, func(state batch.TaskState) bool { return state != one })
	}
	finished := anyIs(batch.TaskRollbackSuccess, batch.TaskRollbackFail)
	if anyIs(batch.TaskRollbackRunning) || anyIs(batch.TaskRollbackPending) && finished {
		return batch.RollbackRunning
	}
	if anyIs(batch.TaskRollbackPending) {
		return batch.RollbackPending
	}
	if anyIs(batch.TaskRollbackFail) {
		return batch.RollbackFail
	}
	if anyIs(batch.TaskRollbackSuccess) && !anyIs(batch.TaskSuccess) {
		return batch.RollbackSuccess
	}
	tasks = slices.DeleteFunc(tasks, is(batch.TaskRollbackSuccess))
	switch {
	case cancelled:
		return batch.Cancel
	case all(batch.TaskPending):
		return batch.Pending
	case anyIs(batch.TaskPending, batch.TaskRetryPending, batch.TaskRunning):
		return batch.Running
	case all(batch.TaskSuccess):
		return batch.Success
	case all(batch.TaskFail):
		return batch.Fail
	}
	return batch.PartialFail
}

func TestTheStateOfABatchIsThatOfItsTasks(t *testing.T) {
	states := batch.TaskStates()
	seen := map[batch.State]bool{}
	var choose func(next int, tally batch.Tally, tasks []batch.TaskState)
	choose = func(next int, tally batch.Tally, tasks []batch.TaskState) {
		if next < len(states) {
			for n := range 3 {
				*tally.Of(states[next]) = n
				choose(next+1, tally, append(tasks, slices.Repeat(states[next:next+1], n)...))
			}
			return
		}
		for _, cancelled := range []bool{false, true} {
			got, want := batch.Aggregate(tally, cancelled), aggregate(slices.Clone(tasks), cancelled)
			seen[got] = true
			if got != want {
				t.Fatalf("%+v, cancelled %t: got %s, want %s", tally, cancelled, got, want)
			}
		}
		if tally.Total() != len(tasks) {
			t.Fatalf("%+v: the total is %d, want %d", tally, tally.Total(), len(tasks))
		}
	}
	choose(0, batch.Tally{}, nil)
	if len(seen) != 10 {
		t.Errorf("only %v come about", seen)
	}
}
