package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Deed is an action upon a job, with what belongs to it.
type Deed struct {
	Action    Action
	Among     []fairlead.State // the states in which alone it is done; none: all that permit it
	Fences    map[int64]int64  // by job: the fence of the run that the caller has seen; a job that is missing may have any
	Reason    string           // ToCancel
	NotBefore time.Time        // ToReschedule; zero: now
	Priority  int              // ToPrioritize
	Queue     string           // ToMove
}

// Permit returns the ErrConflict of a deed that the state of a job forbids, or that is not
// meant for jobs in that state.
func (d *Deed) Permit(id int64, state fairlead.State) error {
	if err := d.Action.Permit(id, state); err != nil {
		return err
	}
	if len(d.Among) > 0 && !slices.Contains(d.Among, state) {
		return driver.IllegalMove(string(d.Action), id, state)
	}
	return nil
}

// PermitSeen is Permit for a job whose last run had a fence. It also refuses a job that has
// run again since the caller saw it: what was true of the earlier run need not be true of
// this one.
func (d *Deed) PermitSeen(id int64, state fairlead.State, fence int64) error {
	if err := d.Permit(id, state); err != nil {
		return err
	}
	if seen, named := d.Fences[id]; named && seen != fence {
		return fmt.Errorf("cannot %s job %d: it has run again since it was found: %w", d.Action, id, fairlead.ErrConflict)
	}
	return nil
}
