package sim

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// A lentTx is a transaction of a caller or a handler. While it is open, no other call of the
// database passes, because SQLite has one writer.
type lentTx struct {
	driver.Tx
	by      *peer
	sql     *sql.Tx
	jobs    []*fairlead.Job // enqueued in it
	settled []fairlead.Settlement
	store   *passing
}

// beginTx opens a transaction. The caller ends it with commit or rollback.
func (s *passing) beginTx(ctx context.Context) (*lentTx, error) {
	tx := &lentTx{by: s.p, store: s}
	_, err := through(ctx, s.w.gate, &call{by: s.p, name: "begin", tx: tx}, nothing{}, func(ctx context.Context, _ nothing) (nothing, error) {
		begun, err := s.w.store.DB().BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return nothing{}, err
		}
		tx.sql, tx.Tx = begun, s.w.store.Tx(begun)
		s.w.gate.hold(tx)
		return nothing{}, nil
	})
	if err != nil {
		tx.rollback()
		return nil, err
	}
	return tx, nil
}

// Enqueue stores jobs in the transaction.
func (x *lentTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	_, err := through(ctx, x.store.w.gate, &call{by: x.by, name: "tx enqueue", tx: x}, args(jobs), func(ctx context.Context, _ []fairlead.Job) (nothing, error) {
		err := x.Tx.Enqueue(ctx, jobs)
		if err == nil {
			x.jobs = append(x.jobs, jobs...)
		}
		return nothing{}, err
	})
	return err
}

// Settle settles a job in the transaction.
func (x *lentTx) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	return through(ctx, x.store.w.gate, &call{by: x.by, name: "tx settle", tx: x}, settlements, func(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
		settled, err := x.Tx.Settle(ctx, settlements)
		for i, answer := range settled {
			if answer == fairlead.SettledAsAsked {
				x.settled = append(x.settled, settlements[i])
			}
		}
		return settled, err
	})
}

// commit ends the transaction. If it fails, the transaction may have been committed.
func (x *lentTx) commit(ctx context.Context) error {
	_, err := through(ctx, x.store.w.gate, &call{by: x.by, name: "commit", tx: x}, nothing{}, func(context.Context, nothing) (nothing, error) {
		err := x.sql.Commit()
		if err == nil {
			x.store.w.committed(x)
		}
		x.store.w.gate.unhold(x)
		return nothing{}, err
	})
	if err != nil {
		x.rollback()
	}
	return err
}

// rollback ends the transaction, unless it has ended.
func (x *lentTx) rollback() {
	_, _ = through(context.Background(), x.store.w.gate, &call{by: x.by, name: "rollback", tx: x}, nothing{}, func(context.Context, nothing) (nothing, error) {
		x.store.w.rollBack(x)
		return nothing{}, nil
	})
	// Even a call that is not made ends the connection.
	if x.store.w.gate.held() == x {
		_, _ = through(context.Background(), x.store.w.gate, &call{by: x.by, name: "disconnect", tx: x, drawn: true}, nothing{}, func(context.Context, nothing) (nothing, error) {
			x.store.w.rollBack(x)
			return nothing{}, nil
		})
	}
}

// rollBack rolls a transaction back. The goroutine of the test calls it.
func (w *world) rollBack(x *lentTx) {
	if x.sql != nil && x.sql.Rollback() == nil {
		w.counts.add(rolledBackTx)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, job := range x.jobs {
			w.book.undone[errandIn(job)] = true
		}
	}
	w.gate.unhold(x)
}

// committed observes what a transaction has changed.
func (w *world) committed(x *lentTx) {
	w.counts.add(committedTx)
	for _, s := range x.settled {
		w.counts.add(completedInTx)
		w.note(Event{What: Asked, Process: x.by.name, Job: s.ID, Fence: s.Fence, Move: s.Move})
		w.settled(x.by, s, fairlead.SettledAsAsked)
		w.enter(func(b *book) { b.completed[s.ID] = true })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, job := range x.jobs {
		if job.Key == "" && job.Kind != fleeting.Name() {
			w.book.kept[errandIn(job)] = job.ID
		}
	}
}
