package sweep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Client starts and manages the sweeps of a store. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client for the store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Put creates the sweep if its Version is zero, and otherwise replaces the definition
// of the stored sweep of that ID and Version. A new rate or parallelism applies from
// the next checkpoints on. Put returns ErrInvalid for an invalid sweep and ErrNotFound
// for an unknown ID. It returns ErrConflict if another sweep has the name, if this one
// has another Version by now, or if it has been started and its items would change.
func (c *Client) Put(ctx context.Context, sweep Sweep) (Sweep, error) {
	if err := Normalize(&sweep); err != nil {
		return Sweep{}, err
	}
	if sweep.Version == 0 {
		sweep.Status = Status{State: Created}
	}
	stored, err := c.store.PutSweep(ctx, sweep)
	if err == nil && stored.State == Running {
		_ = Steer(ctx, c.store, stored.ID) // else a node does so soon
	}
	return stored, err
}

// Get returns the sweep with the given name. It returns ErrNotFound for an unknown
// name.
func (c *Client) Get(ctx context.Context, name string) (Sweep, error) {
	return c.one(ctx, Filter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

// ByID returns the sweep with the given ID. It returns ErrNotFound for an unknown ID.
func (c *Client) ByID(ctx context.Context, id int64) (Sweep, error) {
	return c.one(ctx, Filter{IDs: []int64{id}}, fmt.Sprint(id))
}

func (c *Client) one(ctx context.Context, filter Filter, what string) (Sweep, error) {
	found, err := c.store.Sweeps(ctx, filter)
	if err != nil {
		return Sweep{}, err
	}
	if len(found) == 0 {
		return Sweep{}, fmt.Errorf("sweep %s: %w", what, fairlead.ErrNotFound)
	}
	return found[0].Sweep, nil
}

// List lists sweeps, newest first.
func (c *Client) List(ctx context.Context, filter Filter) ([]Sweep, error) {
	records, err := c.store.Sweeps(ctx, filter)
	if err != nil {
		return nil, err
	}
	sweeps := make([]Sweep, len(records))
	for i := range records {
		sweeps[i] = records[i].Sweep
	}
	return sweeps, nil
}

// Delete removes a sweep. It returns ErrConflict unless the sweep is created, stopped
// or finished, and ErrNotFound for an unknown sweep.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.DeleteSweep(ctx, id)
}

// Start starts a sweep that is created or stopped. A sweep with a gate first waits
// until the business system opens it. Items that failed before no longer count against
// its budget. The argument by names the user or program, for the history. Start returns
// ErrConflict for a sweep in any other state, and ErrNotFound for an unknown sweep.
func (c *Client) Start(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.start(ctx) })
}

// StartAgain starts a sweep like Start, but also accepts a finished sweep, which then
// processes its items again from the beginning. It clears the list of failed items.
func (c *Client) StartAgain(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.startAgain(ctx) })
}

// Retry makes a stopped or finished sweep retry failed items: those with the given
// indexes, or all if there are none. A stopped sweep then continues with its remaining
// items. In all other respects Retry works like Start. It returns ErrInvalid if one of
// the indexes is not that of a failed item, ErrConflict for a sweep in any other state
// and if no item has failed, and ErrNotFound for an unknown sweep.
func (c *Client) Retry(ctx context.Context, id int64, by string, indexes ...int64) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.retry(ctx, indexes) })
}

// Open opens the gate of a waiting sweep, which then runs. The business system calls
// it. Open returns ErrConflict for a sweep in any other state, and ErrNotFound for an
// unknown sweep.
func (c *Client) Open(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.open(ctx) })
}

// Stop prevents further items from starting: none starts later than a second after Stop
// has returned. Items in flight are finished. Stop returns ErrConflict unless the sweep
// is running or waiting, and ErrNotFound for an unknown sweep. It has no effect on a
// sweep that is already stopping.
func (c *Client) Stop(ctx context.Context, id int64, by, reason string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.stop(ctx, reason) })
}

// SetData changes the data that handlers get with every item. It returns ErrConflict
// while the sweep is running, unless it is serial, ErrInvalid for invalid data, and
// ErrNotFound for an unknown sweep.
func (c *Client) SetData(ctx context.Context, id int64, by string, data json.RawMessage) (Sweep, error) {
	if err := fairlead.CheckJSON("args", data); err != nil {
		return Sweep{}, err
	}
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.setData(ctx, data) })
}
