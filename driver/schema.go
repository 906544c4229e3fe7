package driver

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// Schema compares a database's schema with the migrations of this program.
type Schema struct {
	Current int      // newest version that is completely applied
	Latest  int      // newest version of this program
	Pending []string // migrations still to be applied, in order
}

// Migrator is a store that can bring its database's schema up to date. Many nodes may
// do so at once. It continues where an interrupted try ended, and refuses a database
// that is newer than this program.
type Migrator interface {
	Migrate(ctx context.Context) (Schema, error)
	Schema(ctx context.Context) (Schema, error)
	// Script returns all migrations as SQL text, for operators who apply them
	// otherwise.
	Script() string
}

// Restored is what a store has done after its database was restored.
type Restored struct {
	Server int64 // how many servers the database has had, by the store's count
	Fence  int64 // all fences from now on are larger
	Job    int64 // all ids of jobs from now on are larger
	Node   fairlead.NodeID
}

// Restorer is a store that can be informed that its database lost its last commits. It
// raises the counters of fences and ids above all that were ever given out, and every
// process that uses the database then drops what it has cached. The stores notice a
// failover and a restart themselves. They cannot notice a restore into a server that is
// not restarted, so Restored must be called after it.
type Restorer interface {
	Restored(ctx context.Context) (Restored, error)
}
