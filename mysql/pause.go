package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Pause stops jobs of a queue, kind or tenant from being claimed.
func (s *Store) Pause(ctx context.Context, pause fairlead.Pause) error {
	ctx = sqlstore.MayWait(ctx)
	return s.changePauses(ctx, "pause", s.sql.Pause, pause)
}

// Resume undoes Pause.
func (s *Store) Resume(ctx context.Context, pause fairlead.Pause) error {
	ctx = sqlstore.MayWait(ctx)
	return s.changePauses(ctx, "resume", s.sql.Resume, pause)
}

func (s *Store) changePauses(ctx context.Context, verb, change string, pause fairlead.Pause) error {
	return s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		if _, err := t.changeRules(ctx); err != nil {
			return err
		}
		_, err := t.exec(ctx, change, string(pause.Scope), pause.Name)
		return err
	})
}

// Pauses lists what is paused.
func (s *Store) Pauses(ctx context.Context) ([]fairlead.Pause, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	pauses, err := readPauses(ctx, s.db, s.sql.Pauses)
	if err != nil {
		return nil, fmt.Errorf("pauses: %w", err)
	}
	return pauses, nil
}

func readPauses(ctx context.Context, q querier, statement string) (pauses []fairlead.Pause, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		var p fairlead.Pause
		if err := row.Scan(&p.Scope, &p.Name); err != nil {
			return err
		}
		pauses = append(pauses, p)
		return nil
	}, statement)
	return pauses, err
}
