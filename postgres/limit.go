package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// SetLimit sets or removes a scope's limit. It returns ErrInvalid if the tenants' minimums
// would exceed the global cap.
func (s *Store) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	return s.setLimit(ctx, limit, nil)
}

// SetLimitSeen works like SetLimit, but returns ErrConflict if the stored limit differs from
// seen, the limit that the caller read.
func (s *Store) SetLimitSeen(ctx context.Context, limit, seen fairlead.Limit) error {
	return s.setLimit(ctx, limit, &seen)
}

func (s *Store) setLimit(ctx context.Context, limit fairlead.Limit, seen *fairlead.Limit) error {
	ctx = sqlstore.MayWait(ctx)
	err := s.inLimitChange(ctx, func(ctx context.Context, c *limitChange) error {
		minimums, globalCap := 0, 0
		var limits []*sqlstore.StoredLimit
		err := c.in.run(ctx,
			call{sql: c.sql.Minimums, args: []any{""}, each: func(row sqlstore.Scanner) error { return row.Scan(&minimums, &globalCap) }},
			readLimitRows(&c.sql, &limits))
		if err == nil && seen != nil {
			err = sqlstore.CheckSeenLimit(*seen, limits)
		}
		if err == nil {
			err = sqlstore.CheckGlobalCap(limit, minimums)
		}
		if err != nil {
			return err
		}
		if err := c.PutLimit(ctx, limit, 0, nil); err != nil || limit.Scope != fairlead.LimitKind {
			return err
		}
		return c.in.run(ctx, call{sql: c.sql.StirGates, args: []any{limit.Name}})
	})
	if err != nil {
		return fmt.Errorf("set limit: %w", err)
	}
	s.admitSoon(ctx)
	return nil
}

// Limits returns all limits with their usage.
func (s *Store) Limits(ctx context.Context) ([]fairlead.LimitUse, error) {
	var limits []fairlead.LimitUse
	err := s.runPlain(ctx, call{sql: s.sql.Limits, restart: func() { limits = nil }, each: func(row sqlstore.Scanner) error {
		var use fairlead.LimitUse
		var elapsed int64
		if err := row.Scan(&use.Scope, &use.Name, &use.MaxRunning, &use.MinRunning, &use.Rate, &use.Burst, &use.PerKey, &use.Order, &use.Running, &use.Tokens, &elapsed); err != nil {
			return err
		}
		now := dispatch.Limit{Rate: use.Rate, Burst: use.Burst, Tokens: use.Tokens}
		now.Refill(time.Duration(elapsed) * time.Microsecond)
		use.Tokens = now.Tokens
		if use.Rate == 0 {
			use.Tokens = 0
		}
		limits = append(limits, use)
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	sqlstore.SortLimits(limits)
	return limits, nil
}
