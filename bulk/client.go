package bulk

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/await"
)

// A Client manages the bulks in a store. It is safe for concurrent use by multiple
// goroutines.
type Client struct {
	store Source
}

// NewClient returns a client for the bulks in store.
func NewClient(store Source) *Client { return &Client{store} }

// Preview counts the jobs that a bulk would match. It changes nothing. It returns ErrInvalid
// if the bulk is invalid.
func (c *Client) Preview(ctx context.Context, b Bulk) (fairlead.Count, error) {
	if err := Normalize(&b); err != nil {
		return fairlead.Count{}, err
	}
	return b.count(ctx, c.store)
}

// Start stores a bulk, which a node then carries out, and returns the stored bulk. The bulk
// does not affect jobs created after this call. Start returns ErrInvalid if the bulk is
// invalid.
func (c *Client) Start(ctx context.Context, b Bulk) (Bulk, error) { return c.start(ctx, nil, b) }

// StartOnce works like Start, but starts at most one bulk per caller and key. If an earlier
// call with the same caller and key has succeeded, StartOnce returns the current state of the
// bulk that the earlier call started. It returns ErrInvalid if the bulk is invalid,
// ErrConflict if the key was used for a different request, and ErrNotFound if the earlier bulk
// has been deleted.
func (c *Client) StartOnce(ctx context.Context, once fairlead.Once, b Bulk) (Bulk, error) {
	if err := fairlead.NormalizeOnce(once); err != nil {
		return Bulk{}, err
	}
	return c.start(ctx, &once, b)
}

func (c *Client) start(ctx context.Context, once *fairlead.Once, b Bulk) (Bulk, error) {
	if err := Normalize(&b); err != nil {
		return Bulk{}, err
	}
	count, err := b.count(ctx, c.store)
	if err != nil {
		return Bulk{}, err
	}
	b.Status = Status{Matched: count.Total(), More: count.More}
	own := job()
	if err := fairlead.NormalizeJobs([]*fairlead.Job{own}); err != nil {
		return Bulk{}, err
	}
	return c.store.AddBulk(ctx, once, b, own)
}

// Get returns a bulk. It returns ErrNotFound if the bulk does not exist.
func (c *Client) Get(ctx context.Context, id int64) (Bulk, error) { return get(ctx, c.store, id) }

func get(ctx context.Context, store Store, id int64) (Bulk, error) {
	page, err := store.Bulks(ctx, Filter{IDs: []int64{id}})
	if err == nil && len(page.Bulks) == 0 {
		err = NoSuchBulk(id)
	}
	if err != nil {
		return Bulk{}, err
	}
	return page.Bulks[0], nil
}

// List returns the matching bulks, newest first. A page may contain fewer bulks than
// filter.Limit and still have a next page.
func (c *Client) List(ctx context.Context, filter Filter) (Page, error) {
	return c.store.Bulks(ctx, filter)
}

// Misses returns the jobs that a bulk left unchanged, and the reason for each. It returns
// ErrNotFound if the bulk does not exist.
func (c *Client) Misses(ctx context.Context, id int64, filter MissFilter) ([]Miss, error) {
	if _, err := c.Get(ctx, id); err != nil {
		return nil, err
	}
	return c.store.BulkMisses(ctx, id, filter)
}

// Stop requests that a bulk stop, and returns the bulk. It does not undo completed changes.
// Jobs that the bulk has not reached stay unchanged. Stop returns ErrNotFound if the bulk does
// not exist, and ErrConflict if the bulk has ended.
func (c *Client) Stop(ctx context.Context, id int64) (Bulk, error) {
	if err := c.store.StopBulk(ctx, id); err != nil {
		return Bulk{}, err
	}
	return c.Get(ctx, id)
}

// Delete deletes a bulk and its misses. The job that carried out the bulk stays until it is
// pruned. Delete returns ErrNotFound if the bulk does not exist, and ErrConflict if the bulk
// has not ended.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.DeleteBulk(ctx, id) }

// Wait waits until a bulk has ended, and returns the bulk. It returns ErrNotFound if the bulk
// does not exist. If the context ends first, Wait returns the context's error and the bulk's
// last known state.
func (c *Client) Wait(ctx context.Context, id int64) (Bulk, error) {
	return await.Until(ctx, func(ctx context.Context) (Bulk, bool, error) {
		b, err := c.Get(ctx, id)
		return b, b.State.Final(), err
	})
}
