package bulk

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/await"
)

// Client is how programs use the bulks of a store. It may be used by many goroutines.
type Client struct {
	store Source
}

// NewClient makes a client of a store.
func NewClient(store Source) *Client { return &Client{store} }

// Preview counts the jobs that a bulk would be about, and changes nothing. It fails with
// ErrInvalid.
func (c *Client) Preview(ctx context.Context, b Bulk) (fairlead.Count, error) {
	if err := Normalize(&b); err != nil {
		return fairlead.Count{}, err
	}
	return b.count(ctx, c.store)
}

// Start stores a bulk, which a node then carries out. Jobs that are made from now on are
// not among those it is about. It fails with ErrInvalid.
func (c *Client) Start(ctx context.Context, b Bulk) (Bulk, error) { return c.start(ctx, nil, b) }

// StartOnce is Start, unless it has succeeded with the same caller and key before: then it
// returns that bulk as it is now. It fails with ErrInvalid, with ErrConflict if the key was
// used for another request, and with ErrNotFound if that bulk is gone.
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

// List lists bulks, newest first. A page may have fewer bulks than there is room for.
func (c *Client) List(ctx context.Context, filter Filter) (Page, error) {
	return c.store.Bulks(ctx, filter)
}

// Misses lists the jobs that a bulk has left as they were, and why. It fails with
// ErrNotFound.
func (c *Client) Misses(ctx context.Context, id int64, filter MissFilter) ([]Miss, error) {
	if _, err := c.Get(ctx, id); err != nil {
		return nil, err
	}
	return c.store.BulkMisses(ctx, id, filter)
}

// Stop asks a bulk to stop, and returns it. What it has done stays done; jobs that it has not
// come to stay as they are. It fails with ErrNotFound, and with ErrConflict if the bulk has
// ended.
func (c *Client) Stop(ctx context.Context, id int64) (Bulk, error) {
	if err := c.store.StopBulk(ctx, id); err != nil {
		return Bulk{}, err
	}
	return c.Get(ctx, id)
}

// Delete removes a bulk that has ended, with its misses. Its job stays until it is pruned. It
// fails with ErrNotFound, and with ErrConflict if the bulk has not ended.
func (c *Client) Delete(ctx context.Context, id int64) error { return c.store.DeleteBulk(ctx, id) }

// Wait waits until a bulk has ended. It fails with ErrNotFound, and with the error of the
// context, together with the bulk as it was seen last.
func (c *Client) Wait(ctx context.Context, id int64) (Bulk, error) {
	return await.Until(ctx, func(ctx context.Context) (Bulk, bool, error) {
		b, err := c.Get(ctx, id)
		return b, b.State.Final(), err
	})
}
