package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// LimitChanges runs transactions that change the limits that claims obey.
type LimitChanges interface {
	// ChangeLimits works like Database.InTx for a change of the limits. No claim runs while f
	// runs: claims wait for the change and then obey it. After the commit, nodes are woken,
	// because more jobs may be allowed.
	ChangeLimits(ctx context.Context, verb string, f func(ctx context.Context, change LimitChange) error) error
}

// LimitChange is a change of limits in progress. Stores count the jobs under a limit in different
// ways. PostgreSQL and MySQL move jobs to their new limits at the end of the change; SQLite
// counts the jobs again in each claim.
type LimitChange interface {
	DB
	// Version returns the version of the limits after the change.
	Version() int64
	// Family reads the tenants that decide whether a tenant may be declared with a parent,
	// or deleted.
	Family(ctx context.Context, name, parent string) (Family, error)
	// Adopt changes the parent of a tenant, so that its jobs count against the new parent.
	// It must be called after Family.
	Adopt(name, parent string)
	// PutLimit sets the limit of a scope, which also applies to its children. It must be
	// called after Family.
	PutLimit(ctx context.Context, limit fairlead.Limit, least int, children []string) error
}

// ClockStatements holds the statement that reads the database's clock.
type ClockStatements struct {
	Now string `sql:"now"`
}

// Clock returns the time of the database's clock.
func (s *ClockStatements) Clock(ctx context.Context, db DB) (now int64, err error) {
	err = db.Each(ctx, func(row Scanner) error { return row.Scan(&now) }, s.Now)
	return now, err
}
