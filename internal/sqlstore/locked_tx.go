package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lockedTx is a transaction that changes a locked batch or sweep and creates jobs.
type lockedTx struct {
	db     JobTx
	now    int64 // the database's clock, read under the lock
	failed error // reason why the transaction cannot commit
	broken bool  // a statement failed
}

// actLocked runs f in a transaction that locks the subject, see Acting.Act. f takes the lock
// and reports whether it got it.
func actLocked(ctx context.Context, acting Acting, verb string, subject Subject, wait bool, f func(ctx context.Context, tx lockedTx) (locked bool, err error)) (bool, error) {
	if wait {
		ctx = MayWait(ctx)
	}
	locked := false
	began, err := acting.Act(ctx, verb, subject, wait, func(ctx context.Context, db JobTx) (err error) {
		locked, err = f(ctx, lockedTx{db: db})
		return err
	})
	if refusal := (Refusal{}); errors.As(err, &refusal) {
		err = refusal.Err // with the caller's message
	}
	return err == nil && began && locked, err // after an error, the function may still be running
}

// outcome returns the error that ends the transaction after the caller's code has returned
// err. A transaction in which something failed does not commit, even if the caller's code
// ignored the failure.
func (t *lockedTx) outcome(err error) error {
	switch {
	case err == nil:
		return t.failed
	case t.broken:
		return err
	}
	return Refusal{err}
}

// refuse records why the transaction cannot commit.
func (t *lockedTx) refuse(verb string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", verb, err)
	if t.failed == nil {
		t.failed = err
	}
	return err
}

// fail records a failed statement, after which the transaction cannot commit.
func (t *lockedTx) fail(verb string, err error) error {
	t.broken = t.broken || err != nil
	return t.refuse(verb, err)
}

// Now returns the time of the database's clock, read under the lock.
func (t *lockedTx) Now() time.Time { return Time(t.now) }
