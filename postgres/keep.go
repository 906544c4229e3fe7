package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Promote makes due scheduled jobs ready or parks them, and lets gates admit.
func (s *Store) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	promotion := driver.Promotion{Next: -1}
	var lanes []int32
	err := s.run(ctx,
		call{sql: s.sql.Promote, args: []any{max(0, limit)}, each: func(row sqlstore.Scanner) error {
			var lane int32
			var count int
			err := row.Scan(&lane, &count)
			lanes, promotion.Moved = append(lanes, lane), promotion.Moved+count
			return err
		}},
		call{sql: s.sql.NextDue, each: func(row sqlstore.Scanner) error {
			var next *int64
			if err := row.Scan(&next); err != nil || next == nil {
				return err
			}
			promotion.Next = time.Duration(min(*next, math.MaxInt64/1000)) * time.Microsecond
			return nil
		}})
	if err != nil {
		return driver.Promotion{}, fmt.Errorf("promote: %w", err)
	}
	s.notifier.work(lanes...)
	if err := s.admitNews(ctx); err != nil {
		return driver.Promotion{}, fmt.Errorf("promote: %w", err)
	}
	return promotion, nil
}

// Expire fails waiting jobs whose deadline has passed.
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	expired, freed := 0, 0
	err := s.run(ctx, call{sql: s.sql.Expire, args: []any{max(0, limit)}, each: func(row sqlstore.Scanner) error { return row.Scan(&expired, &freed) }})
	if err != nil {
		return 0, fmt.Errorf("expire: %w", err)
	}
	if freed > 0 {
		s.notifier.freed()
	}
	if expired > 0 {
		s.admitSoon(ctx)
	}
	return expired, nil
}
