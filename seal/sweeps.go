package seal

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// PutSweep is part of sweep.Store.
func (s *Store) PutSweep(ctx context.Context, put sweep.Sweep) (sweep.Sweep, error) {
	return s.putSweep(ctx, s.Store.PutSweep, put)
}

// Sweeps is part of sweep.Store. What cannot be opened stays sealed.
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	found, err := s.Store.Sweeps(ctx, filter)
	s.openSweeps(found)
	return found, err
}

func (c coder) putSweep(ctx context.Context, put func(context.Context, sweep.Sweep) (sweep.Sweep, error), s sweep.Sweep) (sweep.Sweep, error) {
	if err := c.closeAll(&s.Data); err != nil {
		return sweep.Sweep{}, err
	}
	stored, err := put(ctx, s)
	_ = c.openAll(&stored.Data)
	return stored, err
}

func (c coder) openSweeps(found []sweep.Record) {
	for i := range found {
		_ = c.openAll(&found[i].Data)
	}
}

// Steer is part of sweep.Store. It is open while it is acted upon, and sealed again then.
func (s *Store) Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, record *sweep.Record, tx sweep.Tx) error) (bool, error) {
	return s.Store.Steer(ctx, id, wait, func(ctx context.Context, record *sweep.Record, tx sweep.Tx) error {
		if err := s.openAll(&record.Data); err != nil {
			return err
		}
		if err := act(ctx, record, sweepTx{tx, s.coder}); err != nil {
			return err
		}
		return s.closeAll(&record.Data)
	})
}

// Checkpoint is part of sweep.Store.
func (s *Store) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	orders, err := s.Store.Checkpoint(ctx, checkpoint)
	_ = s.openAll(&orders.Data)
	return orders, err
}

// sweepTx is a sweep.Tx whose jobs are sealed.
type sweepTx struct {
	sweep.Tx
	coder
}

// Employ is part of sweep.Tx.
func (t sweepTx) Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error {
	sealed, err := t.sealJobs(jobs)
	if err != nil {
		return err
	}
	if err := t.Tx.Employ(ctx, numbers, sealed); err != nil {
		return err
	}
	adopt(jobs, sealed)
	return nil
}

// Enqueue is part of sweep.Tx.
func (t sweepTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	sealed, err := t.sealJobs(jobs)
	if err != nil {
		return err
	}
	if err := t.Tx.Enqueue(ctx, sealed); err != nil {
		return err
	}
	adopt(jobs, sealed)
	return nil
}
