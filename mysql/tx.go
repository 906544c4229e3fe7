package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/sweep"
)

// Tx returns the store for use in the caller's transaction, which must be on the same server
// as the store. The transaction may use any isolation level and any session settings. IDs,
// new lanes and the clock come from the store's own connections.
func (s *Store) Tx(tx *sql.Tx) driver.Tx {
	c := &callerTx{txn: txn{Store: s, tx: tx, callers: true}}
	c.commit = sqlstore.NewCommit(c.wakeUnlessInUse)
	c.Auditor = sqlstore.NewAuditor(callerDatabase{c}, &s.sql.AuditStatements)
	c.sweeps = sqlstore.NewSweeps(callerDatabase{c}, database{s}, &s.sql.FeatureStatements)
	return c
}

// sweeps are those of a caller's transaction.
type sweeps = sweep.CallerTx

// callerTx is a fairlead.Tx. Each of its calls happens as a whole or not at all, so
// that the caller may continue after a conflict.
type callerTx struct {
	access.Auditor
	sweeps
	commit *sqlstore.Commit

	mu  sync.Mutex // held by every call
	txn txn
}

const callMark = "fairlead_call"

// Enqueue is Store.Enqueue inside the transaction.
func (c *callerTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := c.txn.withTimeout(ctx)
	defer cancel()
	if err := c.txn.pending.Check(ctx, jobs); err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	reserved, err := c.txn.reserve(ctx, jobs)
	if err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	var ids []int64
	err = c.call(ctx, func() error {
		if err := reserved.renew(ctx); err != nil {
			return err
		}
		ids = slices.Clone(reserved.ids)
		return c.txn.idsTaken(c.txn.enqueue(ctx, jobs, ids))
	})
	if err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	setIDs(jobs, ids)
	if id := sqlstore.NewID(reserved.ids, ids); id != 0 {
		c.txn.commits.Enqueued(c.commit, id)
	}
	return nil
}

// call runs f as a whole or not at all, and repeats it if the store has corrected what
// it had cached. Any other error may have rolled back the whole transaction, so the
// caller has to repeat it.
func (c *callerTx) call(ctx context.Context, f func() error) error {
	return retry(ctx, isRetry, func() error {
		err := c.txn.inSavepoint(ctx, callMark, f)
		if err != nil {
			err = c.txn.relearn(ctx, err)
		}
		return err
	})
}

// Settle is Store.Settle inside the transaction.
func (c *callerTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := c.txn.withTimeout(ctx)
	defer cancel()
	if err := verdict.CheckMoves(settlements); err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	work, err := c.txn.settling(ctx, settlements)
	if err != nil {
		return nil, err
	}
	err = c.call(ctx, func() error {
		if err := c.txn.renewReplacements(ctx, work); err != nil {
			return err
		}
		return c.txn.settle(ctx, work)
	})
	if err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	settled := work.hand()
	c.txn.commits.Settled(c.commit, settlements, settled)
	return settled, nil
}

// Wake wakes nodes for what the transaction did, and admits parked jobs. Call it after
// the commit.
func (c *callerTx) Wake() {
	c.txn.commits.Forget(c.commit)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake()
}

// wakeUnlessInUse wakes nodes after the commit, unless a call is under way.
func (c *callerTx) wakeUnlessInUse() bool {
	if !c.mu.TryLock() {
		return false
	}
	defer c.mu.Unlock()
	c.wake()
	return true
}

func (c *callerTx) wake() {
	c.txn.wake(&c.txn.wakes)
	c.txn.wakes = wakes{}
	c.txn.admitPosted(context.Background())
}
