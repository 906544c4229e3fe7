package mysql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// SetLimit sets or removes a scope's limit. It returns ErrInvalid if the tenants' minimums
// would exceed the global cap.
func (s *Store) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	return s.setLimit(ctx, limit, nil)
}

// SetLimitSeen sets a limit like SetLimit. It returns ErrConflict if the limit has changed
// since the caller read it as seen.
func (s *Store) SetLimitSeen(ctx context.Context, limit, seen fairlead.Limit) error {
	return s.setLimit(ctx, limit, &seen)
}

func (s *Store) setLimit(ctx context.Context, limit fairlead.Limit, seen *fairlead.Limit) error {
	ctx = sqlstore.MayWait(ctx)
	return s.inLimitChange(ctx, "set limit", func(ctx context.Context, r *limitChange) error {
		family, err := r.Family(ctx, "", "")
		if err != nil {
			return err
		}
		if seen != nil {
			if err := sqlstore.CheckSeenLimit(*seen, sqlstore.PlainLimits(r.rows)); err != nil {
				return err
			}
		}
		if err := sqlstore.CheckGlobalCap(limit, family.Minimums); err != nil {
			return err
		}
		return r.putLimit(ctx, limit, 0)
	})
}

// Limits lists all limits with their current use.
func (s *Store) Limits(ctx context.Context) ([]fairlead.LimitUse, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	limits, err := readLimitRows(ctx, s.db, s.sql.LimitRows)
	if err != nil {
		return nil, fmt.Errorf("limits: %w", err)
	}
	var uses []fairlead.LimitUse
	for _, q := range limits {
		if !q.Set() {
			continue
		}
		use := fairlead.LimitUse{Limit: q.Limit, MinRunning: q.Min, Running: q.running}
		if q.Limit.Rate > 0 {
			use.Tokens = q.limit().Tokens
		}
		uses = append(uses, use)
	}
	sqlstore.SortLimits(uses)
	return uses, nil
}

// Verify recounts each limit's jobs and each open batch's tasks. It corrects wrong counts
// and returns them.
func (s *Store) Verify(ctx context.Context) (drift []driver.Drift, err error) {
	drift, err = s.reholdAll(ctx, "verify")
	slices.SortFunc(drift, func(a, b driver.Drift) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name))
	})
	if err != nil {
		return drift, err
	}
	batches, err := sqlstore.VerifyBatches(ctx, s)
	if err != nil {
		return drift, fmt.Errorf("verify batches: %w", err)
	}
	return append(drift, batches...), nil
}

func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
