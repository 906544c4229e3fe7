package server

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// act does something to the sweep of an id or a name, in the name of the caller.
func (s *Sweeps) act(ctx context.Context, ref string, do func(id int64, by string) (fairlead.Sweep, error)) (*fairleadv1.Sweep, error) {
	found, err := s.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	sweep, err := do(found.ID, callerOf(ctx).identity.Name)
	return s.after(ctx, sweep, err)
}

// StartSweep lets a sweep run, or wait for the business.
func (s *Sweeps) StartSweep(ctx context.Context, in *fairleadv1.StartSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (fairlead.Sweep, error) {
		if in.GetAgain() {
			return s.client.StartSweepAgain(ctx, id, by)
		}
		return s.client.StartSweep(ctx, id, by)
	})
}

// StopSweep lets no more items begin.
func (s *Sweeps) StopSweep(ctx context.Context, in *fairleadv1.StopSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (fairlead.Sweep, error) {
		return s.client.StopSweep(ctx, id, by, in.GetReason())
	})
}

// RetrySweep lets a sweep try items again that came to nothing.
func (s *Sweeps) RetrySweep(ctx context.Context, in *fairleadv1.RetrySweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (fairlead.Sweep, error) {
		return s.client.RetrySweep(ctx, id, by, in.GetIndexes()...)
	})
}

// OpenSweep lets a sweep run that waits for the business.
func (s *Sweeps) OpenSweep(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (fairlead.Sweep, error) {
		return s.client.OpenSweep(ctx, id, by)
	})
}

// SetSweepData changes what handlers are given with every item.
func (s *Sweeps) SetSweepData(ctx context.Context, in *fairleadv1.SetSweepDataRequest) (*fairleadv1.Sweep, error) {
	return s.act(ctx, in.GetId(), func(id int64, by string) (fairlead.Sweep, error) {
		if err := s.checkData(ctx, id, in.GetArgs()); err != nil {
			return fairlead.Sweep{}, err
		}
		return s.client.SetSweepData(ctx, id, by, json.RawMessage(in.GetArgs()))
	})
}
