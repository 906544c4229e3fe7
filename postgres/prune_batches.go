package postgres

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
		err := s.pruneEach(ctx, &left, call{sql: s.sql.PruneBatch, args: []any{retention.States, retention.For.Microseconds()}})
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
