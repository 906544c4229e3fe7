package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// forgetAfter is how long dead nodes are listed.
	forgetAfter = time.Hour
	// forgetSchedules is how long a deleted schedule without runs is kept.
	forgetSchedules = 24 * time.Hour
)

// Prune removes records that are older than their retention.
func (s *Store) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	limit = max(0, limit)
	if err := s.MarkIDs(ctx); err != nil {
		return 0, err
	}
	_, err := inTx(ctx, s, "prune nodes", func(t *txn) (int64, error) {
		if _, err := t.exec(t.sql.PruneReaped, t.now-forgetAfter.Microseconds(), min(limit, keepChunk)); err != nil {
			return 0, err
		}
		if _, err := t.exec(t.sql.PruneLimits); err != nil {
			return 0, err
		}
		return t.exec(t.sql.PruneNodes, t.now-forgetAfter.Microseconds())
	})
	if err != nil {
		return 0, err
	}
	records, err := s.pruneRecords(ctx, limit)
	if err != nil {
		return records, err
	}
	jobs, err := s.pruneJobs(ctx, keep, limit)
	if err != nil {
		return records + jobs, err
	}
	_, err = inTx(ctx, s, "prune schedules", func(t *txn) (int64, error) {
		return t.exec(t.sql.ForgetSchedules, t.now-forgetSchedules.Microseconds(), min(limit, keepChunk))
	})
	if err != nil {
		return records + jobs, err
	}
	if err := s.retireLanes(ctx); err != nil {
		return records + jobs, err
	}
	batches, err := s.pruneBatches(ctx, keep, limit)
	if err != nil {
		return records + jobs + batches, err
	}
	lines, err := s.PruneSweeps(ctx, keep.Failed, limit)
	if err != nil {
		return records + jobs + batches + lines, err
	}
	bulks, err := s.PruneBulks(ctx, keep, limit)
	return records + jobs + batches + lines + bulks, err
}

// pruneRecords removes answered requests and entries of the audit log, at most
// limit of each.
func (s *Store) pruneRecords(ctx context.Context, limit int) (int, error) {
	total := 0
	for _, kept := range []struct {
		query string
		age   time.Duration
	}{{s.sql.PruneOnce, fairlead.OnceWindow}, {s.sql.PruneAudit, access.Window}} {
		removed, err := inChunks(limit, keepChunk, func(limit int) (int, error) {
			return inTx(ctx, s, "prune records", func(t *txn) (int, error) {
				removed, err := t.exec(kept.query, t.now-kept.age.Microseconds(), limit)
				return int(removed), err
			})
		})
		total += removed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// pruneJobs removes finished jobs that are older than their retention.
func (s *Store) pruneJobs(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	total := 0
	keeping, err := s.Keeping(ctx, keep)
	if err != nil {
		return 0, err
	}
	for _, kept := range keeping.Outcomes() {
		removed, err := s.pruneOutcome(ctx, keeping, kept, limit-total)
		total += removed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// pruneOutcome removes finished jobs of one outcome.
func (s *Store) pruneOutcome(ctx context.Context, keeping *sqlstore.Keeping, kept sqlstore.Kept, limit int) (int, error) {
	if kept.Varies {
		return s.PruneVaried(ctx, keeping, kept, limit)
	}
	return inChunks(limit, keepChunk, func(limit int) (int, error) {
		return inTx(ctx, s, "prune", func(t *txn) (int, error) { return t.prune(kept.Outcome, kept.For, limit) })
	})
}

// RemoveFinished implements the source of features.
func (d database) RemoveFinished(ctx context.Context, outcome int, ids []int64, last int64) (int, error) {
	return inTx(ctx, d.Store, "prune", func(t *txn) (int, error) {
		removable, err := t.list(t.sql.Removable, idList(ids), outcome, last)
		if err != nil {
			return 0, err
		}
		return t.remove(removable)
	})
}

func (t *txn) prune(outcome int, age time.Duration, limit int) (int, error) {
	ids, err := t.list(t.sql.Outdated, outcome, t.now-age.Microseconds(), limit)
	if err != nil {
		return 0, err
	}
	return t.remove(ids)
}

// remove removes finished jobs with everything stored about them.
func (t *txn) remove(ids []int64) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	if err := t.must(int64(len(ids)), t.sql.LeaveDoneMany, idList(ids)); err != nil {
		return 0, err
	}
	return len(ids), t.forget(ids)
}
