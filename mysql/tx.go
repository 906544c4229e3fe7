package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Tx is the caller's own transaction, on the server of the store. Any isolation
// level and any session settings will do. Ids, new lanes and the clock come
// from the store's own connections.
func (s *Store) Tx(tx *sql.Tx) fairlead.Tx {
	return &callersTx{txn: txn{Store: s, tx: tx, callers: true}}
}

// callersTx is a fairlead.Tx. Each of its verbs happens as a whole or not at
// all, so that the caller may go on after a conflict.
type callersTx struct {
	txn txn
}

const callMark = "fairlead_call"

// Enqueue is Store.Enqueue inside the transaction.
func (c *callersTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := c.txn.bound(ctx)
	defer cancel()
	if err := c.txn.pending.Check(ctx, jobs); err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	ids, err := c.txn.prepare(ctx, jobs)
	if err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	err = unavailable(ctx, c.txn.undoable(ctx, callMark, func() error { return c.txn.enqueue(ctx, jobs, ids) }))
	if err != nil {
		return fmt.Errorf("enqueue in a transaction: %w", err)
	}
	setIDs(jobs, ids)
	return nil
}

// Settle is Store.Settle inside the transaction.
func (c *callersTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	ctx, cancel := c.txn.bound(ctx)
	defer cancel()
	if err := sqlstore.CheckMoves(settlements); err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	work, err := c.txn.settling(ctx, settlements)
	if err != nil {
		return nil, err
	}
	err = unavailable(ctx, c.txn.undoable(ctx, callMark, func() error { return c.txn.settle(ctx, work) }))
	if err != nil {
		return nil, fmt.Errorf("settle in a transaction: %w", err)
	}
	return work.hand(), nil
}

// Wake tells nodes of what the transaction did, and lets gates admit. Call it
// after the commit.
func (c *callersTx) Wake() {
	c.txn.wake(&c.txn.news)
	c.txn.admitPosted(context.Background())
}
