package hold

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// Client answers what kept jobs waiting. It may be used by many goroutines.
type Client struct {
	store Store
}

// NewClient makes a client of a store.
func NewClient(store Store) *Client { return &Client{store} }

// most is how many holds a page has at most.
const most = 1000

// History says what a job waited for, from when it was due until it started. It fails with
// ErrNotFound.
func (c *Client) History(ctx context.Context, id int64) (History, error) {
	return c.store.History(ctx, id)
}

// List lists what kept jobs of a queue, a tenant, a kind or all waiting, newest first. It
// fails with ErrInvalid if the filter ends before it begins or wants more than 1000.
func (c *Client) List(ctx context.Context, filter Filter) (Page, error) {
	if err := Normalize(&filter); err != nil {
		return Page{}, err
	}
	return c.store.Holds(ctx, filter)
}

// Normalize checks a filter and sets its limit.
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
