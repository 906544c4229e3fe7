package alert

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// A Client manages the alert rules in a store. It is safe for concurrent use.
type Client struct {
	store Store
}

// NewClient returns a client that manages the rules in store.
func NewClient(store Store) *Client { return &Client{store} }

// Set creates the rule, or replaces the stored rule of the same name. Replacing a rule
// preserves its event counts and the time of its last message. Set returns ErrInvalid if the
// rule is invalid. It returns ErrConflict if the stored rule has a different scope, because
// its counts would belong to other jobs.
func (c *Client) Set(ctx context.Context, rule Rule) (Rule, error) {
	if err := Normalize(&rule); err != nil {
		return Rule{}, err
	}
	return c.store.SetAlert(ctx, rule)
}

// Get returns the rule with the given name. It returns ErrNotFound if the rule does not
// exist.
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

// Remove deletes the rule and discards the events that were counted but not yet reported. It
// returns ErrNotFound if the rule does not exist.
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.store.RemoveAlert(ctx, name)
}

// NoSuchRule returns an ErrNotFound for the rule with the given name. All stores use it, so
// they all return the same error text.
func NoSuchRule(name string) error { return fmt.Errorf("alert %q: %w", name, fairlead.ErrNotFound) }
