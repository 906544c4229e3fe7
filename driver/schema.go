package driver

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// Schema compares a database's schema with what this program knows.
type Schema struct {
	Current int      // newest version that is completely applied
	Latest  int      // newest version that this program knows
	Pending []string // migrations still to be applied, in order
}

// Migrator is a store that can bring its database's schema up to date. It is
// safe when many nodes do so at once, goes on where an interrupted try ended,
// and refuses a database that is newer than this program.
type Migrator interface {
	Migrate(ctx context.Context) (Schema, error)
	Schema(ctx context.Context) (Schema, error)
	// Script is all migrations as SQL text, for those who apply them otherwise.
	Script() string
}

// Restored is what a store has done after its database was restored.
type Restored struct {
	Server int64 // how many servers the database has had, by the store's count
	Fence  int64 // all fences from now on are larger
	Job    int64 // all ids of jobs from now on are larger
	Node   fairlead.NodeID
}

// Restorer is a store that takes notice that its database lost its last commits.
// It raises the counters of fences and ids above all that were ever given out, and
// every process that uses the database then drops what it has cached. The stores
// notice a failover and a restart without this; of a restore into a server that is not
// restarted they learn only by it.
type Restorer interface {
	Restored(ctx context.Context) (Restored, error)
}
