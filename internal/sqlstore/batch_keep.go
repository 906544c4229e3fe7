package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// BatchRetention is how long batches are kept that have ended in one of some states.
type BatchRetention struct {
	States []string
	For    time.Duration // zero: for ever
}

// BatchRetentions are those of all states. A batch should not end in some of the
// last, but then it must not stay for ever either.
func BatchRetentions(keep fairlead.Retention) []BatchRetention {
	states := func(some ...fairlead.BatchState) []string {
		names := make([]string, len(some))
		for i, state := range some {
			names[i] = string(state)
		}
		return names
	}
	return []BatchRetention{
		{states(fairlead.BatchSuccess, fairlead.BatchRollbackSuccess), keep.Succeeded},
		{states(fairlead.BatchCancel), keep.Cancelled},
		{states(fairlead.BatchFail, fairlead.BatchPartialFail, fairlead.BatchRollbackFail,
			fairlead.BatchPending, fairlead.BatchRunning, fairlead.BatchRollbackPending, fairlead.BatchRollbackRunning), keep.Failed},
	}
}

// UnopenedRetention is how long a batch is kept whose tasks were not all stored.
const UnopenedRetention = 24 * time.Hour
