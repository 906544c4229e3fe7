package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// Kept is for how long finished jobs of an outcome are kept.
type Kept struct {
	Outcome int
	For     time.Duration
}

// KeptFor lists the outcomes whose jobs are removed one day. What is kept for no time is
// kept forever.
func KeptFor(keep driver.Retention) []Kept {
	var list []Kept
	for _, kept := range []Kept{
		{OutcomeSucceeded, keep.Succeeded},
		{OutcomeFailed, keep.Failed},
		{OutcomeCancelled, keep.Cancelled},
		{OutcomeSkipped, keep.Skipped},
	} {
		if kept.For > 0 {
			list = append(list, kept)
		}
	}
	return list
}
