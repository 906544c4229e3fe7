package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// check finds out why a claim returned no jobs. It fails with ErrLeaseLost if the node
// is not alive, and reports whether the limits have changed.
func (c *claimer) check(ctx context.Context, known *limitConfig) (changed bool, err error) {
	var s claimCheck
	if err := c.run(ctx, s.call(c)); err != nil {
		return false, err
	}
	return s.evaluate(ctx, c, known)
}

func (c *claimer) deadNode() error {
	return driver.NodeLost(c.claim.Node)
}

// claimCheck is what a claim needs to know before it continues.
type claimCheck struct {
	alive   bool
	version int64 // of the limits
}

func (s *claimCheck) call(c *claimer) call {
	return call{sql: c.sql.ClaimCheck, args: []any{int64(c.claim.Node), c.nodeToken}, each: func(row sqlstore.Scanner) error { return row.Scan(&s.alive, &s.version) }}
}

// evaluate fails if the node is not alive. It reads the limits if they have changed.
func (s *claimCheck) evaluate(ctx context.Context, c *claimer, known *limitConfig) (changed bool, err error) {
	if !s.alive {
		return false, c.deadNode()
	}
	if s.version == known.Version {
		return false, nil
	}
	_, err = c.readLimits(ctx)
	return true, err
}
