package alert

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// Client is how programs use the rules of a store. It may be used by many goroutines.
type Client struct {
	store Store
}

// NewClient makes a client of a store.
func NewClient(store Store) *Client { return &Client{store} }

// Set creates the rule of a name or replaces it. What was counted for it, and when a
// message was last sent, stays. It fails with ErrInvalid, and with ErrConflict if the one
// of that name has another scope: what was counted would not be of its jobs.
func (c *Client) Set(ctx context.Context, rule Rule) (Rule, error) {
	if err := Normalize(&rule); err != nil {
		return Rule{}, err
	}
	return c.store.SetAlert(ctx, rule)
}

// Get returns the rule of a name, or ErrNotFound.
func (c *Client) Get(ctx context.Context, name string) (Rule, error) {
	rules, err := c.store.Alerts(ctx)
	if err != nil {
		return Rule{}, err
	}
	for _, rule := range rules {
		if rule.Name == name {
			return rule, nil
		}
	}
	return Rule{}, NoSuchRule(name)
}

// List lists all rules by name.
func (c *Client) List(ctx context.Context) ([]Rule, error) { return c.store.Alerts(ctx) }

// Remove removes a rule: what was counted and not sent yet is not sent. It fails with
// ErrNotFound.
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.store.RemoveAlert(ctx, name)
}

// NoSuchRule returns the ErrNotFound of a rule's name, with the same text in all stores.
func NoSuchRule(name string) error { return fmt.Errorf("alert %q: %w", name, fairlead.ErrNotFound) }
