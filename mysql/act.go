package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Act implements sqlstore.Acting.
func (d database) Act(ctx context.Context, verb string, _ sqlstore.Subject, _ bool, f func(ctx context.Context, tx sqlstore.JobTx) error) (bool, error) {
	err := d.Store.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		return t.shared(ctx, func(ctx context.Context, db sqlstore.DB) error { return f(ctx, &jobTx{DB: db, t: t}) })
	})
	return err == nil, err
}

// jobTx is a transaction that makes jobs: a sqlstore.JobTx.
type jobTx struct {
	sqlstore.DB
	t *txn
}

// Enqueue implements sqlstore.JobTx.
func (j *jobTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if err := j.Flush(ctx); err != nil {
		return err
	}
	ids, err := j.t.prepare(ctx, jobs)
	if err == nil {
		err = j.t.idsTaken(j.t.enqueue(ctx, jobs, ids))
	}
	if err == nil {
		setIDs(jobs, ids)
	}
	return err
}
