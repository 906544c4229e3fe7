package fairlead

import (
	"context"
	"encoding/json"
	"fmt"
)

// PutSweep creates the sweep if its Version is zero, else it replaces what is said of
// the one of that ID and Version. It fails with ErrInvalid, ErrConflict or
// ErrNotFound.
func (c *Client) PutSweep(ctx context.Context, sweep Sweep) (Sweep, error) {
	if err := NormalizeSweep(&sweep); err != nil {
		return Sweep{}, err
	}
	if sweep.Version == 0 {
		sweep.SweepStatus = SweepStatus{State: SweepCreated}
	}
	return c.store.PutSweep(ctx, sweep)
}

// Sweep returns the sweep of a name, or ErrNotFound.
func (c *Client) Sweep(ctx context.Context, name string) (Sweep, error) {
	return c.oneSweep(ctx, SweepFilter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

// SweepByID returns a sweep, or ErrNotFound.
func (c *Client) SweepByID(ctx context.Context, id int64) (Sweep, error) {
	return c.oneSweep(ctx, SweepFilter{IDs: []int64{id}}, fmt.Sprint(id))
}

func (c *Client) oneSweep(ctx context.Context, filter SweepFilter, what string) (Sweep, error) {
	found, err := c.store.Sweeps(ctx, filter)
	if err != nil {
		return Sweep{}, err
	}
	if len(found) == 0 {
		return Sweep{}, fmt.Errorf("sweep %s: %w", what, ErrNotFound)
	}
	return found[0], nil
}

// Sweeps lists sweeps, newest first.
func (c *Client) Sweeps(ctx context.Context, filter SweepFilter) ([]Sweep, error) {
	return c.store.Sweeps(ctx, filter)
}

// DeleteSweep removes a sweep. It fails with ErrConflict unless it is created,
// stopped or finished, and with ErrNotFound.
func (c *Client) DeleteSweep(ctx context.Context, id int64) error {
	return c.store.DeleteSweep(ctx, id)
}

// StartSweep lets a sweep run that is created or stopped; if it has a gate it waits
// for the business. It fails with ErrConflict in other states.
func (c *Client) StartSweep(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(s *steering) error { return s.start(ctx) })
}

// OpenSweep is how the business lets a sweep run that waits for it. It fails with
// ErrConflict in other states.
func (c *Client) OpenSweep(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(s *steering) error {
		if s.State != SweepWaiting {
			return illegalSweep("open", s.Sweep)
		}
		return s.run(ctx, "open")
	})
}

// StopSweep lets no more items begin: none is begun later than a second after it has
// returned. What is in flight ends. It fails with ErrConflict unless the sweep runs
// or waits; one that is stopping already is fine.
func (c *Client) StopSweep(ctx context.Context, id int64, by, reason string) (Sweep, error) {
	var idle []int64
	sweep, err := steer(ctx, c.store, id, true, by, func(s *steering) error {
		idle = nil
		for i := range s.shards {
			if s.live(i) && s.states[i] != Running {
				idle = append(idle, s.shards[i].Job)
			}
		}
		return s.stop(ctx, reason)
	})
	if err != nil || len(idle) == 0 {
		return sweep, err
	}
	for _, job := range idle { // they would only begin in order to stop
		_ = c.store.Cancel(ctx, job, "its sweep is stopped")
	}
	if err := SteerSweep(ctx, c.store, id); err != nil {
		return sweep, err
	}
	return c.SweepByID(ctx, id)
}

// SetSweepData changes what handlers are given with every item. It fails with
// ErrConflict while the sweep runs, unless it is serial.
func (c *Client) SetSweepData(ctx context.Context, id int64, by string, data json.RawMessage) (Sweep, error) {
	if err := CheckJSON("args", data); err != nil {
		return Sweep{}, err
	}
	return steer(ctx, c.store, id, true, by, func(s *steering) error {
		if (s.State == SweepRunning || s.State == SweepStopping) && !s.Serial {
			return illegalSweep("change the data of", s.Sweep)
		}
		s.Data = data
		return s.move(ctx, "data", s.State, "")
	})
}
