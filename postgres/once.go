package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// EnqueueOnce stores jobs unless an earlier call with the same caller and key has already
// stored them. It returns ErrConflict if the earlier call was a different request.
func (s *Store) EnqueueOnce(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (bool, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return s.sql.EnqueueOnce(ctx, database{s}, once, jobs)
}

// CheckPending implements sqlstore.OnceStore.
func (d database) CheckPending(ctx context.Context, jobs []*fairlead.Job) error {
	return d.pending.Check(ctx, jobs)
}

// EnqueueNoted implements sqlstore.OnceStore.
func (d database) EnqueueNoted(ctx context.Context, once fairlead.Once, jobs []*fairlead.Job) (repeated bool, err error) {
	fresh, err := d.number(ctx, jobs)
	if err != nil {
		return false, fmt.Errorf("enqueue once: %w", err)
	}
	begun, ids := time.Now(), slices.Clone(fresh.ids)
	err = d.inTx(sqlstore.MayWait(ctx), func(ctx context.Context, r runner) (err error) {
		copy(fresh.ids, ids) // as they were before a try that was undone
		fresh.left = nil
		db := &pipeline{send: r.run}
		var before []int64
		if before, repeated, err = d.sql.Note(ctx, db, once, ids); err != nil || repeated {
			copy(fresh.ids, before)
			return err
		}
		if err := d.enqueueIn(ctx, r, fresh); err != nil || slices.Equal(fresh.ids, ids) {
			return err
		}
		return d.sql.Correct(ctx, db, once, fresh.ids)
	})
	if err != nil {
		return false, fmt.Errorf("enqueue once: %w", err)
	}
	fresh.setIDs()
	if !repeated {
		d.announce(fresh, time.Since(begun))
		d.admit(ctx, append(fresh.gates(), fresh.left...))
	}
	return repeated, nil
}
