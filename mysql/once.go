package mysql

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// EnqueueOnce stores jobs unless an earlier call with the same caller and key has stored
// them. It returns ErrConflict if the earlier call was a different request.
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
	reserved, err := d.prepare(ctx, jobs)
	if err != nil {
		return false, err
	}
	var ids []int64
	err = d.inTx(sqlstore.MayWait(ctx), "enqueue once", func(ctx context.Context, t *txn) (err error) {
		if ids, repeated, err = t.sql.Note(ctx, t.db(), once, reserved); err != nil || repeated {
			return err
		}
		ids = slices.Clone(reserved)
		if err := t.enqueue(ctx, jobs, ids); err != nil || slices.Equal(ids, reserved) {
			return err
		}
		return t.sql.Correct(ctx, t.db(), once, ids)
	})
	if err != nil {
		return false, err
	}
	setIDs(jobs, ids)
	return repeated, nil
}
