package alert

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// A Client manages the alert rules in a store. It is safe for concurrent use by multiple
// goroutines.
type Client struct {
	store Store
}

// NewClient returns a client for a store.
func NewClient(store Store) *Client { return &Client{store} }

// Set creates or replaces the rule with the given name. Replacing a rule preserves its
// event counts and the time of its last message. Set returns ErrInvalid for an invalid
// rule, and ErrConflict if the stored rule has a different scope, because its counts would
// belong to other jobs.
func (c *Client) Set(ctx context.Context, rule Rule) (Rule, error) {
	if err := Normalize(&rule); err != nil {
		return Rule{}, err
	}
	return c.store.SetAlert(ctx, rule)
}

// Get returns the rule with the given name, or ErrNotFound.
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

// List returns all rules, ordered by name.
func (c *Client) List(ctx context.Context) ([]Rule, error) { return c.store.Alerts(ctx) }

// Remove deletes a rule. Events that were counted but not yet sent are discarded. Remove
// returns ErrNotFound if the rule does not exist.
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.store.RemoveAlert(ctx, name)
}

// NoSuchRule returns the ErrNotFound for a rule name. All stores use it, so the error text
// is the same everywhere.
func NoSuchRule(name string) error { return fmt.Errorf("alert %q: %w", name, fairlead.ErrNotFound) }
