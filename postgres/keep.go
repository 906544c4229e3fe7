package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Promote makes due scheduled jobs ready, or parks them if their gates are full. It also
// lets gates admit jobs that should have been admitted earlier.
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
	if err := s.reholdLeft(ctx); err != nil {
		return driver.Promotion{}, fmt.Errorf("promote: %w", err)
	}
	return promotion, nil
}

// Overdue returns at most limit waiting jobs whose deadlines have passed.
func (s *Store) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	var overdue []driver.Held
	err := s.run(ctx, call{sql: s.sql.Overdue, args: []any{max(0, limit)}, restart: func() { overdue = nil }, each: func(row sqlstore.Scanner) error {
		var held driver.Held
		err := row.Scan(&held.ID, &held.Fence)
		overdue = append(overdue, held)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("overdue: %w", err)
	}
	return overdue, nil
}

// Expire ends the waits of overdue jobs whose deadlines have passed, and returns the number
// of waits that it ended.
func (s *Store) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	ids, fences := make([]int64, len(overdue)), make([]int64, len(overdue))
	for i, held := range overdue {
		ids[i], fences[i] = held.ID, held.Fence
	}
	var moved expired
	err := s.run(ctx, call{sql: s.sql.Expire, args: []any{ids, fences}, restart: func() { moved = expired{} }, each: moved.add})
	if err != nil {
		return 0, fmt.Errorf("expire: %w", err)
	}
	if moved.freed {
		s.notifier.freed()
	}
	if moved.later {
		s.notifier.later()
	}
	s.notifier.work(moved.ready...)
	if moved.ended {
		s.admitSoon(ctx)
	}
	return moved.count, nil
}

// expired is what has become of jobs whose deadline had passed.
type expired struct {
	count               int
	freed, ended, later bool
	ready               []int32 // lanes where jobs became ready
}

func (e *expired) add(row sqlstore.Scanner) error {
	var lane int32
	var freed, ended, due bool
	err := row.Scan(&lane, &freed, &ended, &due)
	e.count++
	e.freed, e.ended, e.later = e.freed || freed, e.ended || ended, e.later || !ended && !due
	if due {
		e.ready = append(e.ready, lane)
	}
	return err
}
