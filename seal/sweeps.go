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

// Sweeps implements sweep.Store. Values that cannot be opened stay sealed.
func (s *Store) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	found, err := s.Store.Sweeps(ctx, filter)
	s.openSweeps(found)
	return found, err
}

// putSweep seals a sweep. It returns ErrInvalid if the data is sealed and this program
// cannot open it.
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
		_ = c.openAll(&found[i].Data) // shown sealed if it cannot be opened, and rejected by putSweep
	}
}

// SweepItems implements sweep.Store. It fails if an item cannot be opened, because a handler
// would otherwise receive the sealed text.
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

// Steer implements sweep.Store. It opens a sweep for act. If act does not change the data,
// Steer stores the original sealed text again. Sealing the data again would produce a
// different text, and a caller who edits the sweep would see a different version. If the
// data cannot be opened, Steer leaves the sweep to a program that has the key.
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

// Checkpoint implements sweep.Store. If another program has changed the data and sealed it
// with a key that this program lacks, Checkpoint returns ErrLeaseLost. The run then ends
// before a handler receives the sealed data, and Claim leaves the shard to a program that
// has the key.
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

// unopenedSweeps returns the errors for sweeps with data that cannot be opened, by sweep
// ID. It considers the sweeps with shards processed by the given jobs.
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

// sweepOf returns the ID of the sweep with the shard that a job processes, or zero for
// other jobs.
func sweepOf(job *fairlead.Job) int64 {
	var args sweep.ShardArgs
	if !sweep.IsShardKind(job.Kind) || json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.Sweep
}

// sweepTx is a sweep.Tx with sealed jobs.
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
