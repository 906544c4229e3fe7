package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// pruneBatches removes at most limit batches that ended long ago or were never opened,
// and returns how many. Each has its own transaction, because it may have thousands of
// chunks.
func (s *Store) pruneBatches(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	left := limit
	for _, retention := range sqlstore.BatchRetentions(keep) {
		if retention.For <= 0 {
			continue
		}
		for _, state := range retention.States {
			if err := s.pruneEach(ctx, &left, retention.For.Microseconds(), s.sql.LockOldBatch, state); err != nil {
				return limit - left, err
			}
		}
	}
	err := s.pruneEach(ctx, &left, sqlstore.UnopenedRetention.Microseconds(), s.sql.LockUnopened)
	return limit - left, err
}

// pruneEach removes the batches that a statement locks, one after the other. The last
// input of the statement is the time before which they ended.
func (s *Store) pruneEach(ctx context.Context, limit *int, age int64, lock string, inputs ...any) error {
	for ; *limit > 0; *limit-- {
		removed := false
		err := s.inTx(ctx, "prune batches", func(ctx context.Context, t *txn) error {
			now, err := t.clock(ctx)
			if err != nil {
				return err
			}
			var id int64
			if removed, err = t.one(ctx, []any{&id}, lock, append(inputs[:len(inputs):len(inputs)], now-age)...); err != nil || !removed {
				return err
			}
			return t.dropBatch(ctx, id)
		})
		if err != nil || !removed {
			return err
		}
	}
	return nil
}

// dropBatch removes a batch that is locked, with its chunks.
func (t *txn) dropBatch(ctx context.Context, id int64) error {
	for _, statement := range []string{t.sql.LateIDs, t.sql.DropBatchChunks, t.sql.DropBatchTasks, t.sql.DeleteBatch} {
		if _, err := t.exec(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}
