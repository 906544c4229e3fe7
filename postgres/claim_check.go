package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// checkStanding finds out why a claim came back empty: it fails with
// ErrLeaseLost if the node is not alive, and reports whether the rules were not
// those it knew.
func (c *claiming) checkStanding(ctx context.Context, known *rules) (changed bool, err error) {
	var s standing
	if err := c.run(ctx, s.call(c)); err != nil {
		return false, err
	}
	return s.judge(ctx, c, known)
}

func (c *claiming) deadNode() error {
	return fmt.Errorf("node %d: %w", c.claim.Node, fairlead.ErrLeaseLost)
}

// standing is what lets a claim go on.
type standing struct {
	alive   bool
	version int64 // of the rules
}

func (s *standing) call(c *claiming) call {
	return call{sql: c.sql.Standing, args: []any{int64(c.claim.Node), c.nodeToken}, each: func(row sqlstore.Scanner) error { return row.Scan(&s.alive, &s.version) }}
}

// judge fails if the node is not alive. If the rules are not the known ones it
// reads them.
func (s *standing) judge(ctx context.Context, c *claiming, known *rules) (changed bool, err error) {
	if !s.alive {
		return false, c.deadNode()
	}
	if s.version == known.Version {
		return false, nil
	}
	_, err = c.readRules(ctx)
	return true, err
}
