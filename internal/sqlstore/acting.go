package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
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
