package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// RuleChanges runs transactions that change the rules that claims obey.
type RuleChanges interface {
	// ChangeRules works like Database.InTx for a change of the rules. No claim runs while f
	// runs: claims wait for the change and then obey it. After the commit, nodes are woken,
	// because more jobs may be allowed.
	ChangeRules(ctx context.Context, verb string, f func(ctx context.Context, change RuleChange) error) error
}

// RuleChange is a rule change in progress. Stores count the jobs under a limit in different
// ways. PostgreSQL and MySQL move jobs to their new limits at the end of the change; SQLite
// counts the jobs again in each claim.
type RuleChange interface {
	DB
	// Version returns the version of the rules after the change.
	Version() int64
	// Family reads the tenants that decide whether a tenant may be declared with a parent,
	// or deleted.
	Family(ctx context.Context, name, parent string) (Family, error)
	// Adopt changes the parent of a tenant, so that its jobs count against the new parent.
	// It must be called after Family.
	Adopt(name, parent string)
	// PutQuota sets the limit of a scope, which also applies to its children. It must be
	// called after Family.
	PutQuota(ctx context.Context, limit fairlead.Limit, least int, children []string) error
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
