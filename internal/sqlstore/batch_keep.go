package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// BatchRetention is the retention period of batches that ended in one of the given states.
type BatchRetention struct {
	States []string
	For    time.Duration // zero means forever
}

// BatchRetentions returns the retention periods of all states. The last one also covers states
// in which a batch should never end, so that every batch is eventually removed.
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

// UnopenedRetention is the retention period of a batch whose tasks were never completely
// stored.
const UnopenedRetention = 24 * time.Hour
