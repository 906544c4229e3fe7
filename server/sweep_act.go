package server

import (
	"context"
	"encoding/json"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/sweep"
)

// act performs an action on the sweep with an ID or a name, on behalf of the caller.
func (s *Sweeps) act(ctx context.Context, ref string, do func(id int64, by string) (sweep.Sweep, error)) (*fairleadv1.Sweep, error) {
	found, err := s.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	sweep, err := do(found.ID, caller.Of(ctx).Identity.Name)
	return s.after(ctx, sweep, err)
}

// StartSweep starts a sweep. If the sweep has a gate, it first waits for the gate to open.
func (s *Sweeps) StartSweep(ctx context.Context, in *fairleadv1.StartSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (sweep.Sweep, error) {
		if in.GetAgain() {
			return s.client.StartAgain(ctx, id, by)
		}
		return s.client.Start(ctx, id, by)
	})
}

// StopSweep prevents a sweep from starting more items.
func (s *Sweeps) StopSweep(ctx context.Context, in *fairleadv1.StopSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (sweep.Sweep, error) {
		return s.client.Stop(ctx, id, by, in.GetReason())
	})
}

// RetrySweep makes a sweep retry its failed items.
func (s *Sweeps) RetrySweep(ctx context.Context, in *fairleadv1.RetrySweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (sweep.Sweep, error) {
		return s.client.Retry(ctx, id, by, in.GetIndexes()...)
	})
}

// OpenSweep opens a waiting sweep's gate.
func (s *Sweeps) OpenSweep(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (sweep.Sweep, error) {
		return s.client.Open(ctx, id, by)
	})
}

// SetSweepData changes the data that handlers get with every item.
func (s *Sweeps) SetSweepData(ctx context.Context, in *fairleadv1.SetSweepDataRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (sweep.Sweep, error) {
		if err := s.checkData(ctx, id, in.GetArgs()); err != nil {
			return sweep.Sweep{}, err
		}
		return s.client.SetData(ctx, id, by, json.RawMessage(in.GetArgs()))
	})
}
