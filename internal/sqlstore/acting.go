package sqlstore

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Acting runs transactions that lock a subject, change it and create jobs.
type Acting interface {
	// Act runs f like Database.InTx and, after the commit, wakes nodes that may run the new
	// jobs. In databases with row locks, f takes the lock itself. SQLite transactions lock
	// the whole file. There, unless wait is set, Act returns false immediately if another
	// call in this process is acting on the subject or waiting to. If f fails, Act undoes
	// everything f did and nothing else.
	Act(ctx context.Context, verb string, subject Subject, wait bool, f func(ctx context.Context, tx JobTx) error) (bool, error)
}

// Subject identifies the row on which a transaction acts.
type Subject struct {
	Table string
	ID    int64
}

// JobTx is a transaction that can create and change jobs.
type JobTx interface {
	DB
	// Enqueue stores jobs and sets their IDs. The jobs must be normalized by NormalizeJobs
	// and have no keys. Enqueue ignores the tenant's limit of pending jobs.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Operate applies an operation to each of the given jobs, as Operator.Operate does. For
	// each job that refuses the operation, it returns ErrConflict or ErrNotFound and leaves the
	// job unchanged. If Operate fails, the caller must roll back the transaction. It does
	// not support rescheduling, because PostgreSQL recognizes the jobs that a transaction
	// postponed only outside savepoints.
	Operate(ctx context.Context, ids []int64, op *verdict.Operation) (refused map[int64]error, err error)
}

// IsRefusal reports whether err means that a job refused an operation. The job is then unchanged.
func IsRefusal(err error) bool {
	return errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound)
}

// Refusal wraps an error that the caller's code returned within a transaction although no
// statement failed. On SQLite, several calls share a transaction; after a Refusal, that
// transaction is still usable.
type Refusal struct {
	Err error
}

// Error implements error.
func (r Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the caller's error.
func (r Refusal) Unwrap() error { return r.Err }
