package sqlite

import (
	"context"
	"sync"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// Steer acts upon a sweep. The write lock of the file is the lock of the sweep; who
// does not want to wait is told by this process that others are at it.
func (s *Store) Steer(ctx context.Context, id int64, wait bool, act func(context.Context, *sweep.Record, sweep.Tx) error) (bool, error) {
	if !s.sweepLocks.begin(id, wait) {
		return false, nil
	}
	defer s.sweepLocks.end(id)
	refused, err := inTx(ctx, s, "steer", func(t *txn) (steerRefusal, error) { return t.steer(id, act) })
	if err == nil {
		err = refused.err
	}
	return err == nil, err
}

// sweepLocks counts who steers each sweep, or waits to.
type sweepLocks struct {
	mu     sync.Mutex
	sweeps map[int64]int
}

// begin tells whether somebody may steer a sweep: unless they want to wait, only if
// nobody else does.
func (s *sweepLocks) begin(id int64, wait bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeps[id] > 0 && !wait {
		return false
	}
	if s.sweeps == nil {
		s.sweeps = map[int64]int{}
	}
	s.sweeps[id]++
	return true
}

func (s *sweepLocks) end(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeps[id]--; s.sweeps[id] == 0 {
		delete(s.sweeps, id)
	}
}

// steerRefusal is what act returned: that is no failure of the transaction.
type steerRefusal struct{ err error }

func (t *txn) steer(id int64, act func(context.Context, *sweep.Record, sweep.Tx) error) (steerRefusal, error) {
	before, err := t.sweep(id)
	if err != nil {
		return steerRefusal{}, err
	}
	tx := &sweepTx{txn: t, sweep: id}
	var refused error
	err = t.inSavepoint(func() error {
		after := before
		if refused = act(t.ctx, &after, tx); refused != nil {
			return refused
		}
		if tx.broken != nil {
			return tx.broken
		}
		row, news, err := sqlstore.SteeredRow(&before, &after)
		if err != nil || !news {
			return err
		}
		return t.must(1, t.sql.KeepSweep, string(row.State), row.Version, string(row.Body), string(row.Status), id)
	})
	if refused != nil && (tx.broken == nil || isAnswer(tx.broken)) {
		return steerRefusal{refused}, nil // it is told with the answer, as everything was undone
	}
	return steerRefusal{}, err
}
