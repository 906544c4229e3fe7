package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Extend gives a waiting job more time and stores the progress that its target has reported.
// It returns the same errors as Resolve.
func (s *Store) Extend(ctx context.Context, extension fairlead.Extension) (time.Time, error) {
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	ext := extending{Store: s, Extension: extension}
	for done := false; !done; {
		err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			ext.deadline = 0
			done, err = ext.try(ctx, r)
			return err
		})
		if err != nil {
			return time.Time{}, fmt.Errorf("extend: %w", err)
		}
	}
	return sqlstore.Time(ext.deadline), nil
}

type extending struct {
	*Store
	fairlead.Extension
	deadline int64
}

// try does what is to be done with what is told. It reports false if the job was nowhere
// because it was on the move.
func (e *extending) try(ctx context.Context, in runner) (done bool, err error) {
	at, err := e.jobState(ctx, in, e.ID)
	if err != nil || at == nil {
		return false, err
	}
	if err := at.Extend(e.Fence); err != nil {
		return true, err
	}
	var calls []call
	if len(e.Told) > 0 {
		calls = append(calls, call{sql: e.sql.Tell, args: []any{e.ID, e.Fence, jsonText(e.Told)}})
	}
	if deadline, waits := at.Extended(&e.Extension); waits {
		e.deadline = deadline
		calls = append(calls, call{sql: e.sql.Extend, args: []any{e.ID, deadline}})
	}
	return true, in.run(ctx, calls...)
}
