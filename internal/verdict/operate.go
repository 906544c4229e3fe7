package verdict

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Action is an operator's action on a job.
type Action string

// Actions, with the words used in error messages.
const (
	ToCancel     Action = "cancel"
	ToReopen     Action = "reopen"
	ToReschedule Action = "reschedule"
	ToRun        Action = "run"
	ToPrioritize Action = "set the priority of"
	ToMove       Action = "move"
	ToDelete     Action = "delete"
)

var (
	pending = []fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready}
	ended   = []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped}
	live    = slices.Concat(pending, []fairlead.State{fairlead.Running, fairlead.Waiting})

	permitted = map[Action][]fairlead.State{
		ToCancel:     live,
		ToReopen:     {fairlead.Failed, fairlead.Cancelled},
		ToReschedule: pending,
		ToRun:        pending,
		ToPrioritize: live,
		ToMove:       pending,
		ToDelete:     slices.Concat(pending, ended),
	}
)

// Permit returns ErrConflict if the state of a job forbids the action.
func (a Action) Permit(id int64, state fairlead.State) error {
	if slices.Contains(permitted[a], state) {
		return nil
	}
	return driver.IllegalMove(string(a), id, state)
}

// Moot reports whether an action is permitted but changes nothing: a job that is already
// due cannot run any earlier.
func (a Action) Moot(state fairlead.State) bool { return a == ToRun && Queued(state) }

// Pending reports whether a job waits to start, so that another job can replace it.
func Pending(state fairlead.State) bool { return slices.Contains(pending, state) }

// Asked reports whether cancelling a job only asks it to stop, because it is running.
func Asked(state fairlead.State) bool { return state == fairlead.Running }

// Queued reports whether a job is in the queue for a slot or for a place at its gate. Its
// row there changes with its priority.
func Queued(state fairlead.State) bool { return state == fairlead.Ready || state == fairlead.Parked }

// HoldsSlots reports whether a job counts against limits, because it is running or waiting
// for its answer.
func HoldsSlots(state fairlead.State) bool {
	return state == fairlead.Running || state == fairlead.Waiting
}

// Cancel returns the result of cancelling a job. reason is the caller's text.
func Cancel(reason string) Next {
	return Next{State: fairlead.Cancelled, Error: reason, FreeKey: true}
}

// ReplacedBy returns the result for a job whose key another job takes over.
func ReplacedBy(id int64) Next {
	return Next{State: fairlead.Cancelled, Reason: fairlead.ReasonReplaced, Error: fmt.Sprintf("replaced by job %d", id)}
}

// Where returns the state in which a job waits for its next run: scheduled until it is due,
// parked until it has a place at its gate, if it has a gate, and otherwise ready.
func Where(due, gated, admitted bool) fairlead.State {
	switch {
	case !due:
		return fairlead.Scheduled
	case gated && !admitted:
		return fairlead.Parked
	}
	return fairlead.Ready
}

// Times decides when a job is due and how urgent it is, in microseconds.
type Times struct {
	StartBy   int64
	NotBefore int64 // 0 = due since its creation
	CreatedAt int64
}

// MeantFor returns the times of a job that is rescheduled to due. StartBy moves with the
// due time if the two were equal.
func (t Times) MeantFor(due int64) Times {
	was := t.NotBefore
	if was == 0 {
		was = t.CreatedAt
	}
	if t.StartBy == was {
		t.StartBy = due
	}
	t.NotBefore = due
	return t
}

// RunNow returns the times of a scheduled job that is to run immediately and reports
// whether they change. A job that was not due yet becomes due now; a job that is backing
// off was due before.
func (t Times) RunNow(now int64) (Times, bool) {
	if t.NotBefore <= now {
		return t, false
	}
	return t.MeantFor(now), true
}
