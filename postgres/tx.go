package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/sweep"
)

// Tx returns the store inside a pgx transaction. IDs and lanes are allocated on the store's
// own connections, so they do not depend on whether the transaction commits. Any isolation
// level works. At levels stricter than READ COMMITTED, a call may return a serialization
// failure. The caller then retries the transaction as usual.
func (s *Store) Tx(tx pgx.Tx) driver.Tx {
	return s.callerTx(pgxRunner{tx})
}

// SQLTx returns the store inside a database/sql transaction that uses the pgx driver. See
// Tx.
func (s *Store) SQLTx(tx *sql.Tx) driver.Tx {
	return s.callerTx(sqlRunner{tx})
}

func (s *Store) callerTx(in runner) *callerTx {
	t := &callerTx{store: s, in: callersRunner{in}}
	t.commit = sqlstore.NewCommit(t.wakeUnlessInUse)
	t.Auditor = sqlstore.NewAuditor(callerDatabase{t}, &s.sql.AuditStatements)
	t.sweeps = sqlstore.NewSweeps(callerDatabase{t}, database{s}, &s.sql.FeatureStatements)
	return t
}

// sweeps are those of a caller's transaction.
type sweeps = sweep.CallerTx

type callerTx struct {
	access.Auditor
	sweeps
	store  *Store
	in     runner
	commit *sqlstore.Commit

	mu    sync.Mutex // held by every call; protects what follows
	lanes []int32    // of jobs that became ready so far
	later bool       // jobs were scheduled
	freed bool       // jobs gave back slots of limits
	gates []int64    // where jobs were parked or gave back places
}

// Enqueue implements fairlead.Tx.
func (t *callerTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := t.store.withTimeout(beside(ctx))
	defer cancel()
	if err := t.store.pending.Check(ctx, jobs); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	var fresh *newJobs
	var reserved []int64
	err := t.store.renewingIn(ctx, func(ctx context.Context, confirmed map[int32]bool) (err error) {
		if fresh, err = t.store.number(ctx, jobs); err != nil {
			return err
		}
		reserved = slices.Clone(fresh.ids)
		fresh.callers, fresh.confirmed = true, confirmed
		return t.enqueueAll(ctx, fresh)
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	fresh.setIDs()
	t.lanes, t.later = append(t.lanes, fresh.distinctLanes()...), t.later || fresh.scheduled()
	t.gates = append(append(t.gates, fresh.gates()...), fresh.left...)
	if id := sqlstore.NewID(reserved, fresh.ids); id != 0 {
		t.store.commits.Enqueued(t.commit, id)
	}
	return nil
}

// enqueueAll stores all jobs or none, even if the caller commits after a refusal: one
// of several jobs may find its key taken after others were stored.
func (t *callerTx) enqueueAll(ctx context.Context, fresh *newJobs) error {
	if !fresh.mayBeRefusedInPart() {
		return t.store.enqueueIn(ctx, t.in, fresh)
	}
	return t.inSavepoint(ctx, func() error { return t.store.enqueueIn(ctx, t.in, fresh) })
}

// inSavepoint runs f as a whole or not at all, so that the caller may continue after a
// refusal.
func (t *callerTx) inSavepoint(ctx context.Context, f func() error) error {
	if err := t.in.run(ctx, call{sql: t.store.sql.Savepoint}); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, t.in.run(ctx, call{sql: t.store.sql.ReturnToSavepoint}))
	}
	return t.in.run(ctx, call{sql: t.store.sql.ReleaseSavepoint})
}

// Settle implements fairlead.Tx.
func (t *callerTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := t.store.withTimeout(beside(ctx))
	defer cancel()
	if err := verdict.CheckMoves(settlements); err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	all := newSettling(t.store, settlements)
	all.callers = true
	for i := range settlements {
		if !verdict.Replaces(&settlements[i]) {
			all.open = append(all.open, i)
		}
	}
	err := all.settle(ctx, t.in)
	for i, a := range settlements {
		if err == nil && verdict.Replaces(&a) {
			err = t.store.renewingIn(ctx, func(ctx context.Context, confirmed map[int32]bool) error {
				successor, err := t.store.successor(ctx, a.Replace)
				if err != nil {
					return err
				}
				successor.callers, successor.confirmed = true, confirmed
				return all.settleReplacing(ctx, t.in, i, successor)
			})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	t.lanes, t.later, t.freed = append(t.lanes, all.ready...), t.later || all.later, t.freed || all.freed
	t.gates = append(t.gates, all.gates...)
	t.store.commits.Settled(t.commit, settlements, all.settled)
	return all.settled, nil
}

// Wake implements fairlead.Tx.
func (t *callerTx) Wake() {
	t.store.commits.Forget(t.commit)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
}

// wakeUnlessInUse wakes nodes after the commit, unless a call is under way.
func (t *callerTx) wakeUnlessInUse() bool {
	if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	t.wake()
	return true
}

func (t *callerTx) wake() {
	if t.later {
		t.store.notifier.later()
	}
	if t.freed {
		t.store.notifier.freed()
	}
	t.store.notifier.work(t.lanes...)
	if len(t.gates) > 0 {
		ctx, cancel := t.store.withTimeout(context.Background())
		defer cancel()
		t.store.admit(ctx, t.gates)
	}
	t.lanes, t.later, t.freed, t.gates = nil, false, false, nil
}
