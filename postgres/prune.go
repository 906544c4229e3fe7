package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	forgetNodesAfter     = time.Hour      // for how long a dead node stays listed
	forgetSchedulesAfter = 24 * time.Hour // for how long a deleted schedule is kept that has no runs

	sweepWindow  = 4 // finished jobs looked at per job that may be removed
	sweepWindows = 50
	sweepAnew    = time.Hour
)

// Prune removes what is older than it has to be kept.
func (s *Store) Prune(ctx context.Context, keep fairlead.Retention, limit int) (int, error) {
	limit = max(0, limit)
	pruned := 0
	for _, rule := range []struct {
		retention time.Duration
		prune     func(ctx context.Context, retention time.Duration, limit int) (int, error)
	}{
		{keep.Succeeded, s.pruneSuccesses},
		{keep.Failed, s.pruner(sqlstore.OutcomeFailed)},
		{keep.Cancelled, s.pruner(sqlstore.OutcomeCancelled)},
		{keep.Skipped, s.pruner(sqlstore.OutcomeSkipped)},
	} {
		if rule.retention <= 0 || pruned >= limit {
			continue
		}
		n, err := rule.prune(ctx, rule.retention, limit-pruned)
		pruned += n
		if err != nil {
			return pruned, fmt.Errorf("prune: %w", err)
		}
	}
	if err := s.runPlain(ctx, call{sql: s.sql.PruneNodes, args: []any{forgetNodesAfter.Microseconds()}}); err != nil {
		return pruned, fmt.Errorf("prune nodes: %w", err)
	}
	if err := s.pruneBatches(ctx, keep, limit); err != nil {
		return pruned, fmt.Errorf("prune batches: %w", err)
	}
	if err := s.pruneSweeps(ctx, keep.Failed, limit); err != nil {
		return pruned, fmt.Errorf("prune sweeps: %w", err)
	}
	records, err := s.pruneRecords(ctx, limit)
	if err != nil {
		return pruned + records, fmt.Errorf("prune records: %w", err)
	}
	return pruned + records, nil
}

// pruneRecords removes answered requests, entries of the audit log and deleted
// schedules, at most limit of each. It tells how many, schedules aside.
func (s *Store) pruneRecords(ctx context.Context, limit int) (int, error) {
	var requests, entries int
	err := s.run(ctx,
		call{
			sql: s.sql.PruneOnce, args: []any{limit, fairlead.OnceWindow.Microseconds()},
			each: func(row sqlstore.Scanner) error { return row.Scan(&requests) },
		},
		call{
			sql: s.sql.PruneAudit, args: []any{limit, fairlead.AuditWindow.Microseconds()},
			each: func(row sqlstore.Scanner) error { return row.Scan(&entries) },
		},
		call{sql: s.sql.PruneSchedules, args: []any{limit, forgetSchedulesAfter.Microseconds()}})
	if err != nil {
		return 0, err
	}
	return requests + entries, nil
}

// pruner prunes an outcome that is rare enough to have an index.
func (s *Store) pruner(outcome int) func(context.Context, time.Duration, int) (int, error) {
	return func(ctx context.Context, retention time.Duration, limit int) (int, error) {
		ids, err := s.remove(ctx, call{sql: s.sql.PruneOthers, args: []any{limit, retention.Microseconds(), outcome}})
		return len(ids), err
	}
}

// remove deletes the finished jobs that a statement chooses, with all that is
// known of them.
func (s *Store) remove(ctx context.Context, doomed call) (ids []int64, err error) {
	doomed.each = func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	}
	err = s.transact(ctx, func(ctx context.Context, r runner) error {
		ids = nil
		if err := r.run(ctx, doomed); err != nil || len(ids) == 0 {
			return err
		}
		return r.run(ctx, call{sql: s.sql.Forget, args: []any{ids}})
	})
	return ids, err
}

// sweep is where pruning successes goes on. An index by age would cost every
// job more than it is worth: ids grow with time, so that old jobs stand
// together at the beginning. Old successes are looked for from where they were
// found last, until there are only newer jobs. Jobs that ended late stay behind
// until it begins anew, and jobs that ended early wait for their neighbours.
type sweep struct {
	mu      sync.Mutex
	after   int64 // id
	begunAt time.Time
}

func (s *Store) pruneSuccesses(ctx context.Context, retention time.Duration, limit int) (pruned int, err error) {
	s.sweep.mu.Lock()
	defer s.sweep.mu.Unlock()
	if time.Since(s.sweep.begunAt) > sweepAnew {
		s.sweep.after, s.sweep.begunAt = 0, time.Now()
	}
	for range sweepWindows {
		var count int
		var last, oldest, now int64
		window := sweepWindow * max(limit, 1000)
		err := s.run(ctx, call{sql: s.sql.PruneWindow, args: []any{s.sweep.after, window}, each: func(row sqlstore.Scanner) error {
			return row.Scan(&count, &last, &oldest, &now)
		}})
		if err != nil {
			return pruned, err
		}
		before := now - retention.Microseconds()
		if count == window && oldest >= before {
			return pruned, nil // it goes on here when they have become old
		}
		ids, err := s.remove(ctx, call{sql: s.sql.PruneSuccesses, args: []any{limit - pruned, before, s.sweep.after, last}})
		pruned += len(ids)
		switch {
		case err != nil:
			return pruned, err
		case pruned == limit:
			s.sweep.after = slices.Max(ids) // there may be more in this window
			return pruned, nil
		case count < window:
			s.sweep.after = 0
			return pruned, nil
		}
		s.sweep.after = last
	}
	return pruned, nil
}
