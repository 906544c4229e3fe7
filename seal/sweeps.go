package seal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// PutSweep implements sweep.Store.
func (s *Store) PutSweep(ctx context.Context, put sweep.Sweep) (sweep.Sweep, error) {
	return s.putSweep(ctx, s.Store.PutSweep, put)
}

// Sweeps implements sweep.Store. What cannot be opened stays sealed.
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	found, err := s.Store.Sweeps(ctx, filter)
	s.openSweeps(found)
	return found, err
}

// putSweep seals a sweep. It fails with ErrInvalid if its data is sealed and this program cannot
// open it.
func (c coder) putSweep(ctx context.Context, put func(context.Context, sweep.Sweep) (sweep.Sweep, error), s sweep.Sweep) (sweep.Sweep, error) {
	if err := errors.Join(c.refuseUnopened(s.Data), c.closeAll(&s.Data)); err != nil {
		return sweep.Sweep{}, err
	}
	s.Items = slices.Clone(s.Items)
	for i := range s.Items {
		if err := c.closeText(&s.Items[i], forItems); err != nil {
			return sweep.Sweep{}, err
		}
	}
	stored, err := put(ctx, s)
	if err != nil {
		return sweep.Sweep{}, err
	}
	return stored, c.openAll(&stored.Data)
}

func (c coder) openSweeps(found []sweep.Record) {
	for i := range found {
		_ = c.openAll(&found[i].Data) // it is shown as it is, and putSweep refuses it
	}
}

// SweepItems implements sweep.Store. It fails if an item cannot be opened: a handler would get
// the sealed text.
func (s *Store) SweepItems(ctx context.Context, id, from int64) ([]string, error) {
	items, err := s.Store.SweepItems(ctx, id, from)
	if err != nil {
		return nil, err
	}
	for i := range items {
		if err := s.openText(&items[i], forItems); err != nil {
			return nil, fmt.Errorf("item %d of sweep %d: %w", from+int64(i), id, err)
		}
	}
	return items, nil
}

// Steer implements sweep.Store. A sweep is open while it is acted upon. If its data has not
// changed then, that stays as it was sealed: sealed anew it would be another text, and a caller
// who edits the sweep would find another version. If the data cannot be opened, nothing happens
// to the sweep: a program that has the key acts upon it.
func (s *Store) Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, record *sweep.Record, tx sweep.Tx) error) (bool, error) {
	return s.Store.Steer(ctx, id, wait, func(ctx context.Context, record *sweep.Record, tx sweep.Tx) error {
		stored := record.Data
		if err := s.openAll(&record.Data); err != nil {
			return fmt.Errorf("sweep %d: %w", id, err)
		}
		opened := record.Data
		if err := act(ctx, record, sweepTx{tx, s.coder}); err != nil {
			return err
		}
		if bytes.Equal(record.Data, opened) {
			record.Data = stored
			return nil
		}
		return s.closeAll(&record.Data)
	})
}

// Checkpoint implements sweep.Store. If the data was changed by a program whose key this one
// lacks, it fails with ErrLeaseLost: the run ends before a handler gets the sealed data, and
// Claim leaves the shard to a program that has the key.
func (s *Store) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	orders, err := s.Store.Checkpoint(ctx, checkpoint)
	if err != nil {
		return orders, err
	}
	if err := s.openAll(&orders.Data); err != nil {
		return sweep.Orders{}, fmt.Errorf("sweep %d: %w: %w", checkpoint.Sweep, err, fairlead.ErrLeaseLost)
	}
	return orders, nil
}

// unopenedSweeps returns why the data of sweeps cannot be opened, by their IDs, for those whose
// shards some jobs go over.
func (s *Store) unopenedSweeps(ctx context.Context, jobs []*fairlead.Job) (map[int64]error, error) {
	var ids []int64
	for _, job := range jobs {
		if id := sweepOf(job); id != 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found, err := s.Store.Sweeps(ctx, sweep.Filter{IDs: ids, Limit: len(ids)})
	unopened := map[int64]error{}
	for i := range found {
		if problem := s.openAll(&found[i].Data); problem != nil {
			unopened[found[i].ID] = problem
		}
	}
	return unopened, err
}

// sweepOf returns the sweep whose shard a job goes over; zero if it goes over none.
func sweepOf(job *fairlead.Job) int64 {
	var args sweep.ShardArgs
	if !sweep.IsShardKind(job.Kind) || json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.Sweep
}

// sweepTx is a sweep.Tx whose jobs are sealed.
type sweepTx struct {
	sweep.Tx
	coder
}

// Employ implements sweep.Tx.
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

// Enqueue implements sweep.Tx.
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
