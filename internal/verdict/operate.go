package verdict

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Action is what an operator does to a job.
type Action string

// The actions, as refusals name them.
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

// Permit returns the ErrConflict of an action that the state of a job forbids.
func (a Action) Permit(id int64, state fairlead.State) error {
	if slices.Contains(permitted[a], state) {
		return nil
	}
	return driver.IllegalMove(string(a), id, state)
}

// Moot reports whether an action is permitted and changes nothing: a job whose time has
// come is not made to run any sooner.
func (a Action) Moot(state fairlead.State) bool { return a == ToRun && Queued(state) }

// Pending reports whether a job waits to be started: then another can take its place.
func Pending(state fairlead.State) bool { return slices.Contains(pending, state) }

// Asked reports whether a job is asked to stop instead of being cancelled at once: it runs.
func Asked(state fairlead.State) bool { return state == fairlead.Running }

// Queued reports whether a job has a place in the order of those that wait for a slot, or
// for a place at their gate. Its row there changes with its priority.
func Queued(state fairlead.State) bool { return state == fairlead.Ready || state == fairlead.Parked }

// HoldsSlots reports whether a job counts against limits: it runs or waits for its answer.
func HoldsSlots(state fairlead.State) bool {
	return state == fairlead.Running || state == fairlead.Waiting
}

// Cancel is what becomes of a job that is cancelled, for a reason in the words of the one
// who did.
func Cancel(reason string) Next {
	return Next{State: fairlead.Cancelled, Error: reason, FreeKey: true}
}

// ReplacedBy is what becomes of a job whose key another job takes over.
func ReplacedBy(id int64) Next {
	return Next{State: fairlead.Cancelled, Reason: fairlead.ReasonReplaced, Error: fmt.Sprintf("replaced by job %d", id)}
}

// Where is the state in which a job waits for its next run: scheduled until it is due,
// parked until it has a place at its gate if it has a gate, else ready.
func Where(due, gated, admitted bool) fairlead.State {
	switch {
	case !due:
		return fairlead.Scheduled
	case gated && !admitted:
		return fairlead.Parked
	}
	return fairlead.Ready
}

// Times are what decides when a job is due and how urgent it is, in microseconds.
type Times struct {
	StartBy   int64
	NotBefore int64 // 0: since it was created
	CreatedAt int64
}

// MeantFor are the times of a job that is meant to run at another time. StartBy moves
// along if it was the due time.
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

// RunNow are the times of a scheduled job that is made to run now, and whether they
// change: one that was not due yet becomes due now, one that backs off has been due
// before.
func (t Times) RunNow(now int64) (Times, bool) {
	if t.NotBefore <= now {
		return t, false
	}
	return t.MeantFor(now), true
}
