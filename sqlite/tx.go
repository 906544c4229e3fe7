package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/sweep"
)

// Tx returns the store within a caller's transaction. The transaction must be on the same
// database: begun with DB, or on the caller's own connection to the same file. The first use
// of the returned Tx takes the write lock. In a deferred transaction, use the returned Tx
// before reading anything. SQLite rejects a write in a transaction that has read before
// another transaction wrote.
func (s *Store) Tx(tx *sql.Tx) driver.Tx {
	s.lanes.lent.Store(s.readers == nil)
	c := &callerTx{store: s, tx: tx}
	c.Auditor = sqlstore.NewAuditor(callerDatabase{c}, &s.sql.AuditStatements)
	c.sweeps = sqlstore.NewSweeps(callerDatabase{c}, database{s}, &s.sql.FeatureStatements)
	return c
}

// sweeps are those of a caller's transaction.
type sweeps = sweep.CallerTx

// callerTx creates ids and lanes inside the caller's transaction and caches nothing of
// it, because the caller may roll back.
type callerTx struct {
	access.Auditor
	sweeps
	store *Store
	tx    *sql.Tx
	wakes wakes
}

// Enqueue stores jobs when the caller commits.
func (c *callerTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ids, err := within(ctx, c, "enqueue", func(t *txn) ([]int64, error) { return t.enqueueBounded(newJobs(jobs)) })
	if err != nil {
		return err
	}
	for i, id := range ids {
		jobs[i].ID = id
	}
	return nil
}

// Settle moves running jobs when the caller commits.
func (c *callerTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if err := verdict.CheckMoves(settlements); err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	answers, err := within(ctx, c, "settle in a transaction", func(t *txn) ([]settledMove, error) { return t.settle(newMoves(settlements)) })
	if err != nil {
		return nil, err
	}
	return hand(answers, settlements), nil
}

// Wake wakes the nodes of this process for what the transaction did. Nodes of other
// processes see its commit. Gates have admitted their jobs in the transaction itself.
func (c *callerTx) Wake() {
	c.store.wake(c.wakes)
}

// within runs a function in the caller's transaction.
func within[T any](ctx context.Context, c *callerTx, what string, f func(t *txn) (T, error)) (T, error) {
	ctx, cancel := c.store.withTimeout(ctx)
	defer cancel()
	var none T
	t := c.store.newTxn(ctx, c.tx)
	t.callers = true
	if _, err := t.exec(t.sql.Lock); err != nil {
		return none, fmt.Errorf("%s: %w", what, unavailable(ctx, err))
	}
	t.now = c.store.micros() // waiting for the lock may have taken a while
	result, err := withGates(t, f)
	if err == nil {
		err = t.writeCounters()
	}
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, unavailable(ctx, err))
	}
	c.wakes.add(t.wakes)
	return result, nil
}
