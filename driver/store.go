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

// A Tx is the caller's own transaction. It offers every operation that clients support
// inside a transaction.
type Tx interface {
	fairlead.Tx
	schedule.CallerTx
	batch.CallerTx
	sweep.CallerTx
}

// A Store provides every database operation that a node needs: operations on jobs, on the
// features that create jobs, and on the node itself.
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
