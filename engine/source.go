package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// Source is where a node gets its jobs: a store, or a service in front of one.
// If it is a driver.Keeper too, as stores are, the node takes its turn at the
// housekeeping.
type Source interface {
	driver.Worker
	// Now is the clock by which leases are judged.
	Now(ctx context.Context) (time.Time, error)
}

var _ Source = driver.Store(nil)
