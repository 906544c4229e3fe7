package sweep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Client is how programs use the sweeps of a store. It may be used by many goroutines.
type Client struct {
	store Store
}

// NewClient makes a client of a store.
func NewClient(store Store) *Client { return &Client{store: store} }

// Put creates the sweep if its Version is zero, else it replaces what is said of
// the one of that ID and Version; a rate and a parallelism count from the next
// checkpoints on. It fails with ErrInvalid, ErrNotFound, and with ErrConflict if
// another sweep has the name, this one was changed meanwhile, or it has been started
// and what it goes over differs.
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

// Get returns the sweep of a name, or ErrNotFound.
func (c *Client) Get(ctx context.Context, name string) (Sweep, error) {
	return c.one(ctx, Filter{Names: []string{name}}, fmt.Sprintf("%q", name))
}

// ByID returns a sweep, or ErrNotFound.
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

// Delete removes a sweep. It fails with ErrConflict unless it is created,
// stopped or finished, and with ErrNotFound.
func (c *Client) Delete(ctx context.Context, id int64) error {
	return c.store.DeleteSweep(ctx, id)
}

// Start lets a sweep run that is created or stopped; if it has a gate it waits
// for the business. Items that failed before do not count against its budget any
// more. It fails with ErrConflict in other states.
func (c *Client) Start(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.start(ctx) })
}

// StartAgain is Start, except that it lets a sweep that has finished go over
// its items from the beginning. Which items failed before is forgotten.
func (c *Client) StartAgain(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.startAgain(ctx) })
}

// Retry lets a stopped or finished sweep try failed items again:
// those with the indexes, or all if there are none. A stopped one goes on with the rest
// then. In all else it is as Start. It fails with ErrInvalid if one of the indexes
// is not that of a failed item, and with ErrConflict in other states and if no item
// failed.
func (c *Client) Retry(ctx context.Context, id int64, by string, indexes ...int64) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.retry(ctx, indexes) })
}

// Open is how the business lets a sweep run that waits for it. It fails with
// ErrConflict in other states.
func (c *Client) Open(ctx context.Context, id int64, by string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.open(ctx) })
}

// Stop lets no more items begin: none is begun later than a second after it has
// returned. What is in flight ends. It fails with ErrConflict unless the sweep runs
// or waits; one that is stopping already is fine.
func (c *Client) Stop(ctx context.Context, id int64, by, reason string) (Sweep, error) {
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.stop(ctx, reason) })
}

// SetData changes what handlers are given with every item. It fails with
// ErrConflict while the sweep runs, unless it is serial.
func (c *Client) SetData(ctx context.Context, id int64, by string, data json.RawMessage) (Sweep, error) {
	if err := fairlead.CheckJSON("args", data); err != nil {
		return Sweep{}, err
	}
	return steer(ctx, c.store, id, true, by, func(ctx context.Context, s *steering) error { return s.setData(ctx, data) })
}
