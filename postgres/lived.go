package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// uncrashTries is how often jobs are looked for that may have moved meanwhile.
const uncrashTries = 2

// Lived says that the process of a node lives, and takes back the crashes that were
// counted for it.
func (s *Store) Lived(ctx context.Context, node fairlead.NodeID) error {
	if err := s.run(ctx, call{sql: s.sql.MarkLived, args: []any{int64(node)}}); err != nil {
		return fmt.Errorf("note that a node lived: %w", err)
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
			return fmt.Errorf("take crashes back: %w", err)
		}
	}
	if err := s.run(ctx, call{sql: s.sql.ForgetReaped, args: []any{int64(node)}}); err != nil {
		return fmt.Errorf("take crashes back: %w", err)
	}
	s.notifier.work(lanes...)
	return nil
}
