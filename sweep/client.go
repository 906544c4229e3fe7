package sweep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Client starts and manages the sweeps in a store. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client for the store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Put creates the sweep if its Version is zero. Otherwise it replaces the definition of the
// stored sweep with the same ID and Version. A new rate or parallelism takes effect at the
// next checkpoints. Put returns ErrInvalid if the sweep is invalid and ErrNotFound if its ID
// does not exist. It returns ErrConflict if another sweep has the same name, if the Version
// does not match the stored one, or if the sweep has been started and its items would
// change.
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

// Get returns the sweep with the given name. It returns ErrNotFound if the sweep does not
// exist.
func (c *Client) Get(ctx context.Context, name string) (Sweep, error) {
	return c.one(ctx, Filter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

// ByID returns the sweep with the given ID. It returns ErrNotFound if the sweep does not
// exist.
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

// List returns the matching sweeps, newest first.
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

// Delete removes a sweep. It returns ErrConflict if the sweep is waiting, running or
// stopping, and ErrNotFound if it does not exist.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.DeleteSweep(ctx, id)
}

// Start starts a sweep that has not been started yet or has stopped. A sweep with a gate
// first waits until the business system opens the gate. Items that failed earlier no longer
// count against the sweep's budget. by names the user or program in the sweep's history.
// Start returns ErrConflict if the sweep is in any other state, and ErrNotFound if it does
// not exist.
func (c *Client) Start(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.start(ctx) })
}

// StartAgain starts a sweep like Start, but also accepts a finished sweep. A finished sweep
// processes all of its items again from the beginning, and its list of failed items is
// cleared.
func (c *Client) StartAgain(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.startAgain(ctx) })
}

// Retry makes a stopped or finished sweep retry failed items: those with the given indexes
// or, if none are given, all of them. A stopped sweep then continues with its remaining
// items. In all other respects, Retry works like Start. It returns ErrInvalid if an index
// does not belong to a failed item, ErrConflict if the sweep is in any other state or no
// item has failed, and ErrNotFound if the sweep does not exist.
func (c *Client) Retry(ctx context.Context, id int64, by string, indexes ...int64) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.retry(ctx, indexes) })
}

// Open opens a waiting sweep's gate. The sweep then runs. Open is meant to be called by the
// business system. It returns ErrConflict if the sweep is not waiting, and ErrNotFound if it
// does not exist.
func (c *Client) Open(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.open(ctx) })
}

// Stop prevents a sweep from starting more items. The last item starts at most one second
// after Stop has returned, and items in flight are finished. Stop has no effect on a sweep
// that is already stopping. It returns ErrConflict if the sweep is in any state other than
// running, waiting or stopping, and ErrNotFound if the sweep does not exist.
func (c *Client) Stop(ctx context.Context, id int64, by, reason string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.stop(ctx, reason) })
}

// SetData changes the data that handlers get with every item. It returns ErrConflict if the
// sweep is running and not serial, ErrInvalid if the data is invalid, and ErrNotFound if the
// sweep does not exist.
func (c *Client) SetData(ctx context.Context, id int64, by string, data json.RawMessage) (Sweep, error) {
	if err := fairlead.CheckJSON("args", data); err != nil {
		return Sweep{}, err
	}
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.setData(ctx, data) })
}
