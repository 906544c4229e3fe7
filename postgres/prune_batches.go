package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// pruneBatches removes at most limit batches that ended long ago or were never opened,
// and returns how many. Each has its own transaction, because it may have thousands of
// chunks.
func (s *Store) pruneBatches(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	left := limit
	for _, rule := range sqlstore.BatchRetentions(keep) {
		if rule.For <= 0 {
			continue
		}
		err := s.pruneEach(ctx, &left, call{sql: s.sql.PruneBatch, args: []any{rule.States, rule.For.Microseconds()}})
		if err != nil {
			return limit - left, err
		}
	}
	err := s.pruneEach(ctx, &left, call{sql: s.sql.PruneUnopened, args: []any{sqlstore.UnopenedRetention.Microseconds()}})
	return limit - left, err
}

// pruneEach repeats a statement that removes one batch until none is left.
func (s *Store) pruneEach(ctx context.Context, limit *int, one call) error {
	for ; *limit > 0; *limit-- {
		removed := false
		one.restart, one.each = func() { removed = false }, hits(&removed)
		if err := s.run(ctx, one); err != nil || !removed {
			return err
		}
	}
	return nil
}

// DeleteBatch removes a batch that has completed, with its chunks.
func (s *Store) DeleteBatch(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		batch, err := s.lockBatch(ctx, r, id)
		if err == nil {
			err = sqlstore.BatchBusy(&batch)
		}
		if err != nil {
			return err
		}
		return r.run(ctx, call{sql: s.sql.DeleteBatch, args: []any{id}})
	})
	if err != nil {
		return fmt.Errorf("delete batch: %w", err)
	}
	return nil
}

// lockBatch locks a batch against other transactions.
func (s *Store) lockBatch(ctx context.Context, r runner, id int64) (batch batch.Record, err error) {
	found := false
	err = r.run(ctx, call{sql: s.sql.LockBatch, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
		found = true
		batch, err = sqlstore.ScanBatch(row)
		return err
	}})
	if err == nil && !found {
		err = sqlstore.NoSuchBatch(id)
	}
	return batch, err
}
