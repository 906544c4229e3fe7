package scope

import (
	"context"
	"fmt"
	"reflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweep returns ErrNotFound for a sweep of another tenant.
func (s Restricted) sweep(ctx context.Context, id int64) error {
	return visible(ctx, "sweep", id, s.Sweeps, sweep.Filter{IDs: []int64{id}})
}

// PutSweep creates or replaces a sweep for a tenant of the caller.
func (s Restricted) PutSweep(ctx context.Context, sw sweep.Sweep) (sweep.Sweep, error) {
	var before *sweep.Sweep
	if sw.Version != 0 {
		found, err := s.Sweeps(ctx, sweep.Filter{IDs: []int64{sw.ID}})
		if err != nil {
			return sweep.Sweep{}, err
		}
		if len(found) == 0 {
			return sweep.Sweep{}, fmt.Errorf("sweep %d: %w", sw.ID, fairlead.ErrNotFound)
		}
		before = &found[0].Sweep
	}
	if err := CheckSweep(ctx, &sw, before); err != nil {
		return sweep.Sweep{}, err
	}
	if err := nameable(ctx, "sweep", sw.Name); err != nil {
		return sweep.Sweep{}, err
	}
	if err := s.hiddenSweep(ctx, &sw, before); err != nil {
		return sweep.Sweep{}, err
	}
	stored, err := s.store.PutSweep(ctx, sw)
	return stored, unnamed(ctx, "sweep", sw.Name, err, func() (bool, error) { return s.seesSweep(ctx, sw) })
}

// hiddenSweep rejects a new sweep with masks in its args, and a change that would reveal
// confidential values of the args: a change to a kind for which they are not confidential,
// or to another gate, which receives the args.
func (s Restricted) hiddenSweep(ctx context.Context, sw, before *sweep.Sweep) error {
	if before == nil {
		return s.unmasked(ctx, "args", sweep.KindOf(sw.Kind), sw.Data)
	}
	field := ""
	switch gate := sw.Gate.BeforeRun; {
	case sw.Kind != before.Kind:
		field = "kind"
	case gate != "" && gate != before.Gate.BeforeRun && !httpcall.SameTarget(gate, before.Gate.BeforeRun):
		field = "gate.before_run"
	default:
		return nil
	}
	hidden, err := s.Hides(ctx, sweep.KindOf(before.Kind), before.Data)
	if err == nil && hidden {
		err = rest.InvalidField(field, `cannot be changed: args contains confidential values that were stored for the previous setting; create a new sweep instead`)
	}
	return err
}

// CheckSweep returns an error for a sweep that does not belong to a tenant of the caller.
// Files and tables belong to no tenant, so callers bound to tenants may not change them.
func CheckSweep(ctx context.Context, sweep, before *sweep.Sweep) error {
	shards := &fairlead.Job{Tenant: sweep.Tenant}
	if err := CheckUnreserved("", shards); err != nil {
		return err
	}
	if err := ownJobs(ctx, []*fairlead.Job{shards}); err != nil {
		return err
	}
	if sweep.Source.File == "" && sweep.Source.Table == nil || before != nil && reflect.DeepEqual(before.Source, sweep.Source) {
		return nil
	}
	return RequireUnrestricted(ctx)
}

// DeleteSweep deletes a sweep of the caller.
func (s Restricted) DeleteSweep(ctx context.Context, id int64) error {
	if err := s.sweep(ctx, id); err != nil {
		return err
	}
	return s.store.DeleteSweep(ctx, id)
}

// Sweeps returns the sweeps of the caller.
func (s Restricted) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Sweeps(ctx, filter)
}

// Shards returns the shards of a sweep of the caller.
func (s Restricted) Shards(ctx context.Context, sweep int64) ([]sweep.Shard, error) {
	if err := s.sweep(ctx, sweep); err != nil {
		return nil, err
	}
	return s.store.Shards(ctx, sweep)
}

// SweepItems returns items from the list of a sweep of the caller.
func (s Restricted) SweepItems(ctx context.Context, sweep, from int64) ([]string, error) {
	if err := s.sweep(ctx, sweep); err != nil {
		return nil, err
	}
	return s.store.SweepItems(ctx, sweep, from)
}

// Steer acts on a sweep of the caller.
func (s Restricted) Steer(ctx context.Context, id int64, wait bool, act func(context.Context, *sweep.Record, sweep.Tx) error) (bool, error) {
	if err := s.sweep(ctx, id); err != nil {
		return false, err
	}
	return s.store.Steer(ctx, id, wait, act)
}

// Checkpoint stores the progress of a shard of the caller.
func (s Restricted) Checkpoint(ctx context.Context, checkpoint sweep.Checkpoint) (sweep.Orders, error) {
	if err := s.sweep(ctx, checkpoint.Sweep); err != nil {
		return sweep.Orders{}, err
	}
	return s.store.Checkpoint(ctx, checkpoint)
}

// FailedItems returns the failed items of a sweep of the caller.
func (s Restricted) FailedItems(ctx context.Context, filter sweep.ItemFilter) ([]sweep.FailedItem, error) {
	if err := s.sweep(ctx, filter.Sweep); err != nil {
		return nil, err
	}
	return s.store.FailedItems(ctx, filter)
}

// AddSweepLogs stores log lines for sweeps of the caller.
func (s Restricted) AddSweepLogs(ctx context.Context, logs []sweep.Log) error {
	checked := map[int64]bool{}
	for _, line := range logs {
		if checked[line.Sweep] {
			continue
		}
		if err := s.sweep(ctx, line.Sweep); err != nil {
			return err
		}
		checked[line.Sweep] = true
	}
	return s.store.AddSweepLogs(ctx, logs)
}

// SweepLogs returns log lines of a sweep of the caller.
func (s Restricted) SweepLogs(ctx context.Context, filter sweep.LogFilter) ([]sweep.Log, error) {
	if err := s.sweep(ctx, filter.Sweep); err != nil {
		return nil, err
	}
	return s.store.SweepLogs(ctx, filter)
}

// SweepEvents returns the events of a sweep of the caller.
func (s Restricted) SweepEvents(ctx context.Context, filter sweep.EventFilter) ([]sweep.Event, error) {
	if err := s.sweep(ctx, filter.Sweep); err != nil {
		return nil, err
	}
	return s.store.SweepEvents(ctx, filter)
}
