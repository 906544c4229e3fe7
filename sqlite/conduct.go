package sqlite

import (
	"context"
	"sync"

	"github.com/fairlead-io/fairlead/batch"
)

// Conduct locks a batch and calls act with the batch. The lock is the file's write lock.
// Conduct returns ErrNotFound if the batch does not exist. If wait is false, Conduct returns
// false immediately if another caller in this process is already acting on the batch or
// waiting to do so.
func (s *Store) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *batch.Record, batch.Tx) error) (bool, error) {
	if !s.batchLocks.begin(id, wait) {
		return false, nil
	}
	defer s.batchLocks.end(id)
	refused, err := inTx(ctx, s, "conduct", func(t *txn) (refusal, error) { return t.conduct(id, act) })
	if err == nil {
		err = refused.err
	}
	return err == nil, err
}

// batchLocks counts the callers that act upon each batch, or wait to.
type batchLocks struct {
	mu      sync.Mutex
	batches map[int64]int
}

// begin reports whether the caller may act upon a batch. Without wait it may only if no
// other caller acts upon the batch or waits to.
func (a *batchLocks) begin(id int64, wait bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batches[id] > 0 && !wait {
		return false
	}
	if a.batches == nil {
		a.batches = map[int64]int{}
	}
	a.batches[id]++
	return true
}

func (a *batchLocks) end(id int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batches[id]--; a.batches[id] == 0 {
		delete(a.batches, id)
	}
}

// refusal is what act returned: that is no failure of the transaction.
type refusal struct{ err error }

func (t *txn) conduct(id int64, act func(context.Context, *batch.Record, batch.Tx) error) (refusal, error) {
	stored, losses, err := t.batch(id)
	if err != nil {
		return refusal{}, err
	}
	tx := &batchTx{txn: t, batch: id, losses: losses}
	var refused error
	err = t.inSavepoint(func() error {
		batch := stored
		if refused = act(t.ctx, &batch, tx); refused != nil {
			return refused
		}
		if tx.broken != nil {
			return tx.broken
		}
		batch.Creator = stored.Creator // what else stays as it is has a column
		return t.saveBatch(id, &batch)
	})
	if refused != nil && tx.broken == nil {
		return refusal{refused}, nil // everything was undone
	}
	return refusal{}, err
}
