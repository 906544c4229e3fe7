package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	forgetNodesAfter     = time.Hour      // how long a dead node stays listed
	forgetSchedulesAfter = 24 * time.Hour // how long a deleted schedule without runs is kept
)

// Prune removes records that are older than their retention period.
func (s *Store) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	limit = max(0, limit)
	pruned := 0
	if err := s.MarkIDs(ctx); err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	keeping, err := s.Keeping(ctx, keep)
	if err != nil {
		return 0, fmt.Errorf("prune: %w", err)
	}
	for _, kept := range keeping.Outcomes() {
		if pruned >= limit {
			continue
		}
		n, err := s.pruneJobs(ctx, keeping, kept, limit-pruned)
		pruned += n
		if err != nil {
			return pruned, fmt.Errorf("prune: %w", err)
		}
	}
	if err := s.runPlain(ctx, call{sql: s.sql.PruneNodes, args: []any{forgetNodesAfter.Microseconds()}}); err != nil {
		return pruned, fmt.Errorf("prune nodes: %w", err)
	}
	if err := s.run(ctx, call{sql: s.sql.PruneReaped, args: []any{limit, forgetNodesAfter.Microseconds()}}); err != nil {
		return pruned, fmt.Errorf("prune crashes of nodes: %w", err)
	}
	if err := s.runPlain(ctx, call{sql: s.sql.PruneLimits}); err != nil {
		return pruned, fmt.Errorf("prune limits: %w", err)
	}
	if err := s.retireLanes(ctx); err != nil {
		return pruned, fmt.Errorf("prune lanes: %w", err)
	}
	batches, err := s.pruneBatches(ctx, keep, limit)
	pruned += batches
	if err != nil {
		return pruned, fmt.Errorf("prune batches: %w", err)
	}
	lines, err := s.PruneSweeps(ctx, keep.Failed, limit)
	pruned += lines
	if err != nil {
		return pruned, fmt.Errorf("prune sweeps: %w", err)
	}
	bulks, err := s.PruneBulks(ctx, keep, limit)
	pruned += bulks
	if err != nil {
		return pruned, err
	}
	records, err := s.pruneRecords(ctx, limit)
	if err != nil {
		return pruned, fmt.Errorf("prune records: %w", err)
	}
	return pruned + records, nil
}

// pruneRecords removes answered requests, entries of the audit log and deleted
// schedules, at most limit of each. It returns how many, without the schedules.
func (s *Store) pruneRecords(ctx context.Context, limit int) (int, error) {
	var requests, entries int
	err := s.run(ctx,
		call{
			sql: s.sql.PruneOnce, args: []any{limit, fairlead.OnceWindow.Microseconds()},
			each: func(row sqlstore.Scanner) error { return row.Scan(&requests) },
		},
		call{
			sql: s.sql.PruneAudit, args: []any{limit, access.Window.Microseconds()},
			each: func(row sqlstore.Scanner) error { return row.Scan(&entries) },
		},
		call{sql: s.sql.PruneSchedules, args: []any{limit, forgetSchedulesAfter.Microseconds()}})
	if err != nil {
		return 0, err
	}
	return requests + entries, nil
}

// pruneJobs removes jobs of an outcome that are older than they have to be kept.
func (s *Store) pruneJobs(ctx context.Context, keeping *sqlstore.Keeping, kept sqlstore.Kept, limit int) (int, error) {
	if kept.Varies {
		return s.PruneVaried(ctx, keeping, kept, limit)
	}
	if kept.Outcome == sqlstore.OutcomeSucceeded { // they are many, and have an index of their own
		return s.pruneSuccesses(ctx, kept.For, limit)
	}
	n, _, err := s.remove(ctx, call{sql: s.sql.PruneOthers, args: []any{limit, kept.For.Microseconds(), kept.Outcome}})
	return n, err
}

// RemoveFinished implements the source of features.
func (d database) RemoveFinished(ctx context.Context, outcome int, ids []int64, last int64) (int, error) {
	n, _, err := d.remove(ctx, call{sql: d.sql.Removable, args: []any{ids, outcome, last}})
	return n, err
}

// remove deletes the finished jobs that a statement chooses, with everything stored
// about them. It returns how many they were and when the last of them ended.
func (s *Store) remove(ctx context.Context, doomed call) (n int, last int64, err error) {
	var ids []int64
	doomed.each = func(row sqlstore.Scanner) error {
		var id, end int64
		err := row.Scan(&id, &end)
		ids, last = append(ids, id), max(last, end)
		return err
	}
	err = s.inTx(ctx, func(ctx context.Context, r runner) error {
		ids, last = nil, 0
		if err := r.run(ctx, doomed); err != nil || len(ids) == 0 {
			return err
		}
		return r.run(ctx, call{sql: s.sql.Forget, args: []any{ids, ""}})
	})
	if err != nil {
		return 0, 0, err
	}
	return len(ids), last, nil
}
