package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ruleChange is a change of the rules in progress.
type ruleChange struct {
	*Store
	in      runner
	version int64 // the new one
	touched []scopeName
}

// scopeName names jobs that may count against other quotas than before.
type scopeName struct {
	scope fairlead.LimitScope
	name  string
}

func (s scopeName) covers(lane sqlstore.Lane) bool {
	switch s.scope {
	case fairlead.LimitQueue:
		return lane.Queue == s.name
	case fairlead.LimitKind:
		return lane.Kind == s.name
	case fairlead.LimitTenant:
		return lane.Tenant == s.name
	}
	return true
}

// changeRules changes the rules while no claim runs, and wakes nodes, because the new
// rules may allow more. It may run f more than once.
func (s *Store) changeRules(ctx context.Context, f func(ctx context.Context, c *ruleChange) error) error {
	defer s.pending.Forget()
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		c := &ruleChange{Store: s, in: r}
		err := r.run(ctx,
			call{sql: s.sql.ExcludeClaims, args: []any{s.rulesLock}},
			call{sql: s.sql.ChangeRules, args: []any{sqlstore.VersionStep()}, each: func(row sqlstore.Scanner) error { return row.Scan(&c.version) }})
		if err == nil {
			err = f(ctx, c)
		}
		if err == nil {
			err = c.reholdTouched(ctx)
		}
		return err
	})
	if err == nil {
		s.notifier.everything()
	}
	return err
}

// touch records that jobs may count against other quotas than before.
func (c *ruleChange) touch(scope fairlead.LimitScope, names ...string) {
	for _, name := range names {
		c.touched = append(c.touched, scopeName{scope, name})
	}
}

// setPause pauses or resumes.
func (c *ruleChange) setPause(ctx context.Context, pause fairlead.Pause, paused bool) error {
	return inRunner(ctx, c.in, func(_ context.Context, db sqlstore.DB) error {
		c.sql.SetPause(db, pause, paused)
		return nil
	})
}

// putQuota sets the limit of a scope. It touches the scopes whose jobs begin or cease
// to count against it: the scope itself, and the children of a tenant.
func (c *ruleChange) putQuota(ctx context.Context, limit fairlead.Limit, minimum int, children []string) error {
	was, is := false, (&sqlstore.Quota{Rule: limit, Min: minimum}).Active()
	err := c.in.run(ctx,
		call{sql: c.sql.QuotaActive, args: []any{string(limit.Scope), limit.Name}, each: hits(&was)},
		call{sql: c.sql.PutQuota, args: []any{string(limit.Scope), limit.Name, limit.MaxRunning, minimum, limit.Rate, limit.Burst, limit.PerKey}})
	if was != is {
		c.touch(limit.Scope, limit.Name)
		c.touch(limit.Scope, children...)
	}
	return err
}
