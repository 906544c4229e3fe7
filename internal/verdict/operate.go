package verdict

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

var (
	pending = []fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready}
	ended   = []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped}
	live    = slices.Concat(pending, []fairlead.State{fairlead.Running, fairlead.Waiting})

	permitted = map[fairlead.Op][]fairlead.State{
		fairlead.OpCancel:      live,
		fairlead.OpReopen:      {fairlead.Failed, fairlead.Cancelled},
		fairlead.OpReschedule:  pending,
		fairlead.OpRunNow:      pending,
		fairlead.OpSetPriority: live,
		fairlead.OpSetQueue:    pending,
		fairlead.OpDelete:      slices.Concat(pending, ended),
	}
)

// Permit returns ErrConflict if a job in the given state does not permit the operation.
func Permit(op fairlead.Op, id int64, state fairlead.State) error {
	if slices.Contains(permitted[op], state) {
		return nil
	}
	return illegal(op, id, state)
}

func illegal(op fairlead.Op, id int64, state fairlead.State) error {
	verb := string(op)
	if op == fairlead.OpSetPriority {
		verb = "set the priority of"
	}
	return driver.IllegalMove(verb, id, state)
}

// Moot reports whether the operation is permitted but would change nothing. This is the case
// for running a job that is already queued, because it cannot run any earlier.
func Moot(op fairlead.Op, state fairlead.State) bool { return op == fairlead.OpRunNow && Queued(state) }

// Pending reports whether a job in the given state is waiting to start. Another job can then
// replace it.
func Pending(state fairlead.State) bool { return slices.Contains(pending, state) }

// Asked reports whether cancelling a job in the given state only requests that it stop,
// because the job is running.
func Asked(state fairlead.State) bool { return state == fairlead.Running }

// Queued reports whether a job in the given state is queued for a slot or for a place at its
// gate. The priority is part of the job's row in the queue.
func Queued(state fairlead.State) bool { return state == fairlead.Ready || state == fairlead.Parked }

// HoldsSlots reports whether a job in the given state counts against limits, because it is
// running or waiting for an answer.
func HoldsSlots(state fairlead.State) bool {
	return state == fairlead.Running || state == fairlead.Waiting
}

// Cancel returns the next state of a cancelled job. reason is the caller's text.
func Cancel(reason string) Next {
	return Next{State: fairlead.Cancelled, Error: reason, FreeKey: true}
}

// ReplacedBy returns the next state of a job whose key the job with the given ID takes over.
func ReplacedBy(id int64) Next {
	return Next{State: fairlead.Cancelled, Reason: fairlead.ReasonReplaced, Error: fmt.Sprintf("replaced by job %d", id)}
}

// Where returns the state in which a job waits for its next run. The job is scheduled until it
// is due, then parked until its gate, if any, admits it, and then ready.
func Where(due, gated, admitted bool) fairlead.State {
	switch {
	case !due:
		return fairlead.Scheduled
	case gated && !admitted:
		return fairlead.Parked
	}
	return fairlead.Ready
}

// Times holds the times that decide when a job is due and how urgent it is, in microseconds.
type Times struct {
	StartBy   int64
	NotBefore int64 // 0 = due since its creation
	CreatedAt int64
}

// MeantFor returns a job's times after the job is rescheduled to due. If StartBy was equal to
// the previous due time, it moves with the due time.
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

// RunNow returns a scheduled job's times after an operator has requested that the job run
// immediately, and reports whether the times have changed. If the job was not due yet, it is
// due now. If the job is backing off, it has been due before, and its times do not change.
func (t Times) RunNow(now int64) (Times, bool) {
	if t.NotBefore <= now {
		return t, false
	}
	return t.MeantFor(now), true
}
