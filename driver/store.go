package driver

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Store is all that a node asks of a database: jobs, what makes them, and what a node does
// with them.
type Store interface {
	fairlead.Store
	schedule.Store
	batch.Store
	sweep.Store
	Worker
	Keeper
}
