package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepTx is what act may do. The context is that of the transaction, whatever act
// makes of it.
type sweepTx struct {
	txn    *txn
	sweep  int64
	broken error // something failed: nothing of this may be kept
}

var _ sweep.Tx = (*sweepTx)(nil)

// fail notes that something failed.
func (s *sweepTx) fail(err error) error {
	if err != nil && s.broken == nil {
		s.broken = err
	}
	return err
}

// Now is the database's clock.
func (s *sweepTx) Now() time.Time { return sqlstore.Time(s.txn.now) }

// Shards returns the shards and the states of their jobs.
func (s *sweepTx) Shards(context.Context) ([]sweep.Shard, []fairlead.State, error) {
	shards, states, err := s.txn.shardsAndStates(s.sweep)
	return shards, states, s.fail(err)
}

// Cut makes the shards anew.
func (s *sweepTx) Cut(_ context.Context, shards []sweep.Shard) error {
	return s.fail(s.txn.cut(s.sweep, shards))
}

// Forget forgets which items came to nothing.
func (s *sweepTx) Forget(context.Context) error {
	_, err := s.txn.exec(s.txn.sql.DeleteFailed, s.sweep)
	return s.fail(err)
}

// Again lets failed items wait to be tried again.
func (s *sweepTx) Again(_ context.Context, indexes []int64) ([]int64, error) {
	unknown, err := s.txn.again(s.sweep, indexes)
	return unknown, s.fail(err)
}

// Grant stores shares.
func (s *sweepTx) Grant(_ context.Context, shards []sweep.Shard) error {
	return s.fail(s.txn.grant(s.sweep, shards))
}

// Employ enqueues the jobs of shards.
func (s *sweepTx) Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error {
	if err := s.Enqueue(ctx, jobs); err != nil {
		return err
	}
	for i, number := range numbers {
		hit, err := s.txn.exec(s.txn.sql.Employ, jobs[i].ID, s.sweep, number)
		if err == nil && hit == 0 {
			err = sqlstore.NoSuchShard(s.sweep, number)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	return nil
}

// Enqueue enqueues jobs.
func (s *sweepTx) Enqueue(_ context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ids, err := s.txn.insert(newJobs(jobs))
	if err != nil {
		return s.fail(err)
	}
	for i, id := range ids {
		jobs[i].ID = id
	}
	return nil
}

// Record adds to the history.
func (s *sweepTx) Record(_ context.Context, event sweep.Event) error {
	id, err := s.txn.next(sweepEventCounter, 1)
	if err == nil {
		err = s.txn.must(1, s.txn.sql.AddSweepEvent, id, s.sweep, s.txn.now, sqlstore.CleanText(event.By), sqlstore.CleanText(event.Action),
			string(event.From), string(event.To), sqlstore.CleanText(event.Note))
	}
	return s.fail(err)
}
