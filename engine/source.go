package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// Source supplies a node with jobs. It is either a store or a service in front of a store.
// If it also implements driver.Keeper, as stores do, the node takes part in housekeeping.
type Source interface {
	driver.Worker
	// Now returns the time of the clock that governs leases.
	Now(ctx context.Context) (time.Time, error)
}

var _ Source = driver.Store(nil)
