package sqlstore

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Needed returns the ErrConflict that keeps a job from being deleted because a batch or a
// sweep has not processed it yet. All stores use the same message. If batch and sweep are both
// 0, Needed returns nil.
func Needed(job, batch, sweep int64) error {
	switch {
	case batch != 0:
		return fmt.Errorf("cannot delete job %d: it is a task that batch %d has not counted yet; cancel it, and delete it after the batch has counted it: %w",
			job, batch, fairlead.ErrConflict)
	case sweep != 0:
		return fmt.Errorf("cannot delete job %d: it processes a shard of sweep %d, but the sweep is still running; stop the sweep first: %w", job, sweep, fairlead.ErrConflict)
	}
	return nil
}

// StateOfDeleted returns the final state of a run whose job is deleted while in the given
// state. Deleting a job that has not started cancels its run.
func StateOfDeleted(state fairlead.State) fairlead.State {
	if state.Final() {
		return state
	}
	return fairlead.Cancelled
}
