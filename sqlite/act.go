package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Act implements sqlstore.Acting. The write lock of the file is the lock of the subject. A
// caller that does not want to wait learns from this process that another call acts upon it.
func (d database) Act(ctx context.Context, verb string, subject sqlstore.Subject, wait bool, f func(ctx context.Context, tx sqlstore.JobTx) error) (bool, error) {
	if !d.Store.acting.begin(subject, wait) {
		return false, nil
	}
	defer d.Store.acting.end(subject)
	refused, err := inTx(ctx, d.Store, verb, func(t *txn) (refusal, error) { return t.actOrRefuse(f) })
	if err == nil && refused.err != nil {
		err = fmt.Errorf("%s: %w", verb, refused.err)
	}
	return err == nil, err
}

// refusal is an error of a function after which the transaction continues.
type refusal struct{ err error }

// actOrRefuse undoes all of f if it fails. If no statement failed, the transaction that others share
// goes on, and the refusal is part of the answer.
func (t *txn) actOrRefuse(f func(ctx context.Context, tx sqlstore.JobTx) error) (refusal, error) {
	err := t.inSavepoint(func() error {
		return t.shared(func(ctx context.Context, db sqlstore.DB) error { return f(ctx, &jobTx{DB: db, t: t}) })
	})
	if errors.As(err, new(sqlstore.Refusal)) || isAnswer(err) {
		return refusal{err}, nil
	}
	return refusal{}, err
}

// acting counts the calls that act upon something, or wait to.
type acting struct {
	mu    sync.Mutex
	calls map[sqlstore.Subject]int
}

// begin reports whether a call may act upon something: unless it wants to wait, only if no
// other call does.
func (a *acting) begin(subject sqlstore.Subject, wait bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls[subject] > 0 && !wait {
		return false
	}
	if a.calls == nil {
		a.calls = map[sqlstore.Subject]int{}
	}
	a.calls[subject]++
	return true
}

func (a *acting) end(subject sqlstore.Subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls[subject]--; a.calls[subject] == 0 {
		delete(a.calls, subject)
	}
}

// jobTx is a transaction that makes jobs: a sqlstore.JobTx.
type jobTx struct {
	sqlstore.DB
	t *txn
}

// Clock returns the time at which the function began, under the write lock.
func (j *jobTx) Clock() int64 { return j.t.now }

// Enqueue implements sqlstore.JobTx.
func (j *jobTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if err := j.Flush(ctx); err != nil {
		return err
	}
	ids, err := j.t.insert(newJobs(jobs))
	if err != nil {
		return err
	}
	for i, id := range ids {
		jobs[i].ID = id
	}
	return nil
}

// Operate implements sqlstore.JobTx.
func (j *jobTx) Operate(ctx context.Context, ids []int64, op *verdict.Operation) (map[int64]error, error) {
	if err := j.Flush(ctx); err != nil {
		return nil, err
	}
	refused := map[int64]error{}
	for _, id := range ids {
		switch err := j.t.operate(id, op); {
		case sqlstore.IsRefusal(err):
			refused[id] = err
		case err != nil:
			return nil, err
		}
	}
	return refused, nil
}
