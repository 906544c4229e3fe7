package hold

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Client reads the records of what kept jobs waiting. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client that reads the holds in store.
func NewClient(store Store) *Client { return &Client{store} }

// most is the maximum number of holds in a page.
const most = 1000

// History returns what a job waited for, from its due time until it started. It returns
// ErrNotFound if the job does not exist.
func (c *Client) History(ctx context.Context, id int64) (History, error) {
	return c.store.History(ctx, id)
}

// List returns the holds that match the filter, newest first. It returns ErrInvalid if the
// filter's period ends before it begins or its limit exceeds 1000.
func (c *Client) List(ctx context.Context, filter Filter) (Page, error) {
	if err := Normalize(&filter); err != nil {
		return Page{}, err
	}
	return c.store.Holds(ctx, filter)
}

// Samples returns the samples of the cluster's activity between from and to, oldest first.
// Samples are retained for a day. There are no samples for times at which no node was
// recording.
func (c *Client) Samples(ctx context.Context, from, to time.Time) ([]Sample, error) {
	return c.store.Samples(ctx, from, to)
}

// Normalize validates the filter and sets its default limit.
func Normalize(filter *Filter) error {
	var bad []fairlead.FieldError
	if filter.Limit < 0 || filter.Limit > most {
		bad = append(bad, fairlead.FieldError{Field: "limit", Message: "must be from 1 to 1000"})
	}
	if !filter.From.IsZero() && !filter.To.IsZero() && !filter.From.Before(filter.To) {
		bad = append(bad, fairlead.FieldError{Field: "to", Message: "must be later than from"})
	}
	if filter.Limit == 0 {
		filter.Limit = 100
	}
	return fairlead.Invalid(bad...)
}
