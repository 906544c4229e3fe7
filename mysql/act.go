package mysql

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
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

// Operate implements sqlstore.JobTx. All jobs are locked, in order of id, before the first is
// acted upon, and what becomes of them is written together.
func (j *jobTx) Operate(ctx context.Context, ids []int64, op *verdict.Operation) (map[int64]error, error) {
	if err := j.Flush(ctx); err != nil {
		return nil, err
	}
	jobs, err := j.t.locateAll(ctx, ids)
	if err != nil {
		return nil, err
	}
	now, err := j.t.clock(ctx)
	if err != nil {
		return nil, err
	}
	m, refused := moves{now: now}, map[int64]error{}
	if err := j.t.aim(ctx, jobs, &m, op); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if jobs[id] == nil {
			refused[id] = driver.NoSuchJob(id)
			continue
		}
		switch err := j.t.act(ctx, jobs[id], &m, op); {
		case sqlstore.IsRefusal(err):
			refused[id] = err
		case err != nil:
			return nil, err
		}
	}
	return refused, j.t.write(ctx, &m)
}
