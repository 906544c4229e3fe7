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

// NewClient returns a client for a store.
func NewClient(store Source) *Client { return &Client{store} }

// Preview counts the jobs that a bulk would match, without changing anything. It returns
// ErrInvalid if the bulk is invalid.
func (c *Client) Preview(ctx context.Context, b Bulk) (fairlead.Count, error) {
	if err := Normalize(&b); err != nil {
		return fairlead.Count{}, err
	}
	return b.count(ctx, c.store)
}

// Start stores a bulk, which a node then carries out. Jobs created after this call are not
// affected. Start returns ErrInvalid if the bulk is invalid.
func (c *Client) Start(ctx context.Context, b Bulk) (Bulk, error) { return c.start(ctx, nil, b) }

// StartOnce is like Start, unless an earlier call with the same caller and key has
// succeeded: then it returns the current state of that bulk. It returns ErrInvalid if the
// bulk is invalid, ErrConflict if the key was used for another request, and ErrNotFound if
// that bulk has been deleted.
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

// Get returns a bulk, or ErrNotFound.
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

// List returns bulks, newest first. A page may have fewer bulks than its limit allows.
func (c *Client) List(ctx context.Context, filter Filter) (Page, error) {
	return c.store.Bulks(ctx, filter)
}

// Misses returns the jobs that a bulk left unchanged, with the reasons. It returns
// ErrNotFound if the bulk does not exist.
func (c *Client) Misses(ctx context.Context, id int64, filter MissFilter) ([]Miss, error) {
	if _, err := c.Get(ctx, id); err != nil {
		return nil, err
	}
	return c.store.BulkMisses(ctx, id, filter)
}

// Stop requests that a bulk stop, and returns the bulk. Completed changes are not undone;
// jobs that the bulk has not reached stay unchanged. Stop returns ErrNotFound if the bulk
// does not exist, and ErrConflict if it has ended.
func (c *Client) Stop(ctx context.Context, id int64) (Bulk, error) {
	if err := c.store.StopBulk(ctx, id); err != nil {
		return Bulk{}, err
	}
	return c.Get(ctx, id)
}

// Delete deletes a bulk that has ended, and its misses. The bulk's job stays until it is
// pruned. Delete returns ErrNotFound if the bulk does not exist, and ErrConflict if it has
// not ended.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.DeleteBulk(ctx, id) }

// Wait waits until a bulk has ended. It returns ErrNotFound if the bulk does not exist. If
// the context ends first, it returns the context's error and the last known state of the
// bulk.
func (c *Client) Wait(ctx context.Context, id int64) (Bulk, error) {
	return await.Until(ctx, func(ctx context.Context) (Bulk, bool, error) {
		b, err := c.Get(ctx, id)
		return b, b.State.Final(), err
	})
}
