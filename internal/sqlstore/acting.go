package sqlstore

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Acting runs transactions that act upon one thing under its lock, and make jobs.
type Acting interface {
	// Act is Database.InTx for such a transaction. Afterwards nodes are woken that may run
	// the jobs. Databases that can lock a row leave the lock to f. SQLite, whose
	// transactions have the whole file locked, returns false at once, unless wait is set, if
	// another call of this process acts upon the subject or waits to. It undoes all of f if
	// f fails, and nothing else.
	Act(ctx context.Context, verb string, subject Subject, wait bool, f func(ctx context.Context, tx JobTx) error) (bool, error)
}

// Subject is what a transaction acts upon.
type Subject struct {
	Table string
	ID    int64
}

// JobTx is a transaction that makes jobs.
type JobTx interface {
	DB
	// Enqueue stores jobs, which have been through NormalizeJobs and have no keys, and sets
	// their IDs. How many jobs their tenant may have pending does not count.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Operate carries a deed out upon each of some jobs, as the methods of Operator do. It
	// returns the ErrConflict or ErrNotFound of those that refuse it, which it leaves as they
	// are. If it fails, the transaction is to be rolled back. It does not reschedule: PostgreSQL
	// knows jobs that a transaction put off only outside of savepoints.
	Operate(ctx context.Context, ids []int64, deed *verdict.Deed) (refused map[int64]error, err error)
}

// IsRefusal reports whether a deed was refused: the job is as it was.
func IsRefusal(err error) bool {
	return errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound)
}

// Refusal is an error of what a caller did in the transaction, while no statement failed: the
// transaction that others share on SQLite is sound.
type Refusal struct {
	Err error
}

// Error implements error.
func (r Refusal) Error() string { return r.Err.Error() }

// Unwrap gives what the caller returned.
func (r Refusal) Unwrap() error { return r.Err }
