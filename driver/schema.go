package driver

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// Schema compares a database's schema with this program's migrations.
type Schema struct {
	Current int      // newest fully applied version
	Latest  int      // newest version known to this program
	Pending []string // migrations not yet applied, in order
}

// A Migrator is a store that can upgrade its database's schema. Several nodes may upgrade it
// at the same time. An upgrade resumes where an interrupted upgrade stopped, and fails if
// the database is newer than this program.
type Migrator interface {
	Migrate(ctx context.Context) (Schema, error)
	Schema(ctx context.Context) (Schema, error)
	// Script returns all migrations as SQL, for operators who apply them with other tools.
	Script() string
}

// Restored is the result of Restorer.Restored.
type Restored struct {
	Server int64 // number of servers that the database has run on, as counted by the store
	Fence  int64 // all future fences are larger
	Job    int64 // all future job IDs are larger
	Node   fairlead.NodeID
}

// A Restorer is a store that can be told that its database has lost its last commits. It
// then raises the counters for fences and IDs above every value ever issued, and makes all
// processes that use the database drop their caches. Stores detect a failover or a restart
// on their own, but not a restore into a server that keeps running. After such a restore,
// callers must call Restored.
type Restorer interface {
	Restored(ctx context.Context) (Restored, error)
}
