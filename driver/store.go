package driver

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/alert"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Tx is the caller's own transaction, with everything that clients do in one.
type Tx interface {
	fairlead.Tx
	schedule.CallerTx
	batch.CallerTx
	sweep.CallerTx
}

// Store is everything that a node asks of a database: jobs, the features that create
// them, and what a node does with them.
type Store interface {
	fairlead.Store
	schedule.Store
	batch.Store
	sweep.Store
	alert.Store
	hold.Store
	bulk.Store
	Worker
	Keeper
}
