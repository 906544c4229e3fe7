package fairlead

import "context"

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
