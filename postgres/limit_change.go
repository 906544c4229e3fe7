package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitChange is a change of the limits in progress.
type limitChange struct {
	*Store
	*pipeline
	in      runner
	version int64 // the new one
	touched []scopeName
	reheld  bool // jobs now count against the current limits
	left    bool // a job still counts against other limits, because another transaction holds it
}

// scopeName names jobs that may count against other limits than before.
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

// inLimitChange changes the limits while no claim runs, and wakes nodes, because the new
// limits may allow more. It may run f more than once.
func (s *Store) inLimitChange(ctx context.Context, f func(ctx context.Context, c *limitChange) error) error {
	defer s.pending.Forget()
	var c *limitChange
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		c = &limitChange{Store: s, in: r, pipeline: &pipeline{send: r.run}}
		err := r.run(ctx,
			call{sql: s.sql.ExcludeClaims, args: []any{s.limitsLock}},
			call{sql: s.sql.ChangeLimits, args: []any{sqlstore.VersionStep()}, each: func(row sqlstore.Scanner) error { return row.Scan(&c.version) }})
		if err == nil {
			err = f(ctx, c)
		}
		if err == nil {
			err = c.Flush(ctx)
		}
		if err == nil {
			err = c.reholdTouched(ctx)
		}
		return err
	})
	if err == nil {
		if c.reheld { // else what is left of an earlier change is still left
			s.reholding.Left(c.left)
		}
		s.notifier.everything()
	}
	return err
}

// touch records that jobs may count against other limits than before.
func (c *limitChange) touch(scope fairlead.LimitScope, names ...string) {
	for _, name := range names {
		c.touched = append(c.touched, scopeName{scope, name})
	}
}

// Version implements sqlstore.LimitChange.
func (c *limitChange) Version() int64 { return c.version }

// Family implements sqlstore.LimitChange.
func (c *limitChange) Family(ctx context.Context, name, parent string) (sqlstore.Family, error) {
	family := sqlstore.Family{Parents: map[string]string{}}
	c.QueueEach(func(row sqlstore.Scanner) error {
		var relative, itsParent string
		err := row.Scan(&relative, &itsParent)
		family.Parents[relative] = itsParent
		return err
	}, c.sql.Family, name, parent)
	err := c.Each(ctx, func(row sqlstore.Scanner) error { return row.Scan(&family.Minimums, &family.GlobalCap) }, c.sql.Minimums, name)
	return family, err
}

// Adopt implements sqlstore.LimitChange.
func (c *limitChange) Adopt(name, _ string) { c.touch(fairlead.LimitTenant, name) }

// PutLimit implements sqlstore.LimitChange. It touches those whose jobs count against the
// limit that did not, or the other way round: the scope itself, and the children of a
// tenant.
func (c *limitChange) PutLimit(ctx context.Context, limit fairlead.Limit, minimum int, children []string) error {
	was, is := false, (&sqlstore.StoredLimit{Limit: limit, Min: minimum}).Active()
	c.QueueEach(hits(&was), c.sql.LimitActive, string(limit.Scope), limit.Name)
	c.Queue(c.sql.PutLimit, string(limit.Scope), limit.Name, limit.MaxRunning, minimum, limit.Rate, limit.Burst, limit.PerKey, string(limit.Order))
	err := c.Flush(ctx)
	if was != is {
		c.touch(limit.Scope, limit.Name)
		c.touch(limit.Scope, children...)
	}
	return err
}
