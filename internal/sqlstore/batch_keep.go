package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// BatchRetention is how long batches are kept that have ended in one of some states.
type BatchRetention struct {
	States []string
	For    time.Duration // zero: for ever
}

// BatchRetentions are those of all states. A batch should not end in some of the
// last, but then it must not stay for ever either.
func BatchRetentions(keep driver.Retention) []BatchRetention {
	states := func(some ...batch.State) []string {
		names := make([]string, len(some))
		for i, state := range some {
			names[i] = string(state)
		}
		return names
	}
	return []BatchRetention{
		{states(batch.Success, batch.RollbackSuccess), keep.Succeeded},
		{states(batch.Cancel), keep.Cancelled},
		{states(batch.Fail, batch.PartialFail, batch.RollbackFail,
			batch.Pending, batch.Running, batch.RollbackPending, batch.RollbackRunning), keep.Failed},
	}
}

// UnopenedRetention is how long a batch is kept whose tasks were not all stored.
const UnopenedRetention = 24 * time.Hour
