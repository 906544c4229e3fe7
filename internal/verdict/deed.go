package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Deed is an operator's action together with its parameters.
type Deed struct {
	Action    Action
	Among     []fairlead.State // states of the jobs to which the deed applies; empty = all states that permit the action
	Fences    map[int64]int64  // by job: fence of the run that the caller has seen; a job not in the map may have any
	Reason    string           // for ToCancel
	NotBefore time.Time        // for ToReschedule; zero = now
	Priority  int              // for ToPrioritize
	Queue     string           // for ToMove
}

// Permit returns ErrConflict if a job's state forbids the action, or if the deed does not
// apply to jobs in that state.
func (d *Deed) Permit(id int64, state fairlead.State) error {
	if err := d.Action.Permit(id, state); err != nil {
		return err
	}
	if len(d.Among) > 0 && !slices.Contains(d.Among, state) {
		return driver.IllegalMove(string(d.Action), id, state)
	}
	return nil
}

// PermitSeen works like Permit and also compares fence, the fence of the job's last run, with
// the fence that the caller has seen. It returns ErrConflict if the job has run again since
// then, because what the caller knows about the earlier run may not apply to the new run.
func (d *Deed) PermitSeen(id int64, state fairlead.State, fence int64) error {
	if err := d.Permit(id, state); err != nil {
		return err
	}
	if seen, named := d.Fences[id]; named && seen != fence {
		return fmt.Errorf("cannot %s job %d: it has run again since it was found: %w", d.Action, id, fairlead.ErrConflict)
	}
	return nil
}
