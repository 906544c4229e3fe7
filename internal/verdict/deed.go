package verdict

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Deed is an action upon a job, with what belongs to it.
type Deed struct {
	Action    Action
	Among     []fairlead.State // the states in which alone it is done; none: all that permit it
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
