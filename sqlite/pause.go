package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Pause stops jobs of a queue or kind from being claimed. A claim looks at the
// pauses in its own transaction, so that none comes after this one's commit.
func (s *Store) Pause(ctx context.Context, pause fairlead.Pause) error {
	_, err := inTx(ctx, s, "pause", func(t *txn) (int64, error) {
		if _, err := t.changeRules(); err != nil {
			return 0, err
		}
		return t.exec(t.sql.Pause, string(pause.Scope), pause.Name)
	})
	return err
}

// Resume undoes Pause.
func (s *Store) Resume(ctx context.Context, pause fairlead.Pause) error {
	_, err := inTx(ctx, s, "resume", func(t *txn) (int64, error) {
		if _, err := t.changeRules(); err != nil {
			return 0, err
		}
		return t.exec(t.sql.Resume, string(pause.Scope), pause.Name)
	})
	return err
}

// Pauses lists what is paused.
func (s *Store) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	return read(ctx, s, "list pauses", (*txn).pauses)
}

func (t *txn) pauses() ([]fairlead.Pause, error) {
	var pauses []fairlead.Pause
	err := t.each(t.sql.Pauses, nil, func(row sqlstore.Scanner) error {
		var pause fairlead.Pause
		if err := row.Scan(&pause.Scope, &pause.Name); err != nil {
			return err
		}
		pauses = append(pauses, pause)
		return nil
	})
	return pauses, err
}
