package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// RuleChanges changes what claims obey.
type RuleChanges interface {
	// ChangeRules is Database.InTx for a change of the rules. No claim is under way while
	// f runs: claims wait for the change and then obey it. Nodes are woken after the
	// commit, because more may be allowed.
	ChangeRules(ctx context.Context, verb string, f func(ctx context.Context, change RuleChange) error) error
}

// RuleChange is a change of the rules that is under way. How a store counts what runs under
// a limit is its own: PostgreSQL and MySQL move jobs to other limits when the change ends,
// SQLite counts anew with each claim.
type RuleChange interface {
	DB
	// Version is that of the rules after the change.
	Version() int64
	// Family reads the tenants that decide whether one may be declared with a parent, or
	// deleted.
	Family(ctx context.Context, name, parent string) (Family, error)
	// Adopt gives a tenant another parent than it had: its jobs count against that from now
	// on. It follows Family.
	Adopt(name, parent string)
	// PutQuota sets what bounds a scope, which those of its children count against too. It
	// follows Family.
	PutQuota(ctx context.Context, limit fairlead.Limit, least int, children []string) error
}

// ClockStatements are those that read the database's clock.
type ClockStatements struct {
	Now string `sql:"now"`
}

// Clock reads the database's clock.
func (s *ClockStatements) Clock(ctx context.Context, db DB) (now int64, err error) {
	err = db.Each(ctx, func(row Scanner) error { return row.Scan(&now) }, s.Now)
	return now, err
}
