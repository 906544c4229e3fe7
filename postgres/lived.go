package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// uncrashTries is how often Lived looks for jobs that may have moved meanwhile.
const uncrashTries = 2

// Lived records that a node's process is alive, and removes the crashes that were counted
// for that node.
func (s *Store) Lived(ctx context.Context, node fairlead.NodeID) error {
	if err := s.run(ctx, call{sql: s.sql.MarkLived, args: []any{int64(node)}}); err != nil {
		return fmt.Errorf("record that a node was alive: %w", err)
	}
	_, text := verdict.Lived(int64(node))
	var lanes []int32
	for range uncrashTries {
		err := s.run(ctx, call{sql: s.sql.Uncrash, args: []any{int64(node), text}, each: func(row sqlstore.Scanner) error {
			var lane int32
			err := row.Scan(&lane)
			lanes = append(lanes, lane)
			return err
		}})
		if err != nil {
			return fmt.Errorf("withdraw crashes: %w", err)
		}
	}
	if err := s.run(ctx, call{sql: s.sql.ForgetReaped, args: []any{int64(node)}}); err != nil {
		return fmt.Errorf("withdraw crashes: %w", err)
	}
	s.notifier.work(lanes...)
	return nil
}
