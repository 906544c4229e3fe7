package fairlead

import (
	"context"
	"fmt"
)

// PutTenant creates the tenant if its Version is zero, else it replaces the one
// of that Version. It fails with ErrInvalid, ErrConflict or ErrNotFound.
func (c *Client) PutTenant(ctx context.Context, tenant Tenant) (Tenant, error) {
	if err := NormalizeTenant(&tenant); err != nil {
		return Tenant{}, err
	}
	return c.store.PutTenant(ctx, tenant)
}

// DeleteTenant removes what was declared of a tenant. Its jobs stay. It fails
// with ErrNotFound, or with ErrConflict while others name it as their parent.
func (c *Client) DeleteTenant(ctx context.Context, name string) error {
	return c.store.DeleteTenant(ctx, name)
}

// Tenant returns what was declared of a tenant, or ErrNotFound.
func (c *Client) Tenant(ctx context.Context, name string) (Tenant, error) {
	found, err := c.store.Tenants(ctx, TenantFilter{Names: []string{name}})
	if err != nil {
		return Tenant{}, err
	}
	if len(found) == 0 {
		return Tenant{}, fmt.Errorf("tenant %q: %w", name, ErrNotFound)
	}
	return found[0], nil
}

// Tenants lists declared tenants by name, a page at a time.
func (c *Client) Tenants(ctx context.Context, filter TenantFilter) ([]Tenant, error) {
	return c.store.Tenants(ctx, filter)
}

// PauseTenant stops jobs of a tenant and its children from starting, on all
// nodes, until ResumeTenant. Running jobs go on.
func (c *Client) PauseTenant(ctx context.Context, name string) error {
	return c.pause(ctx, Pause{Scope: PauseTenant, Name: name})
}

// ResumeTenant undoes PauseTenant.
func (c *Client) ResumeTenant(ctx context.Context, name string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseTenant, Name: name})
}

// SetLimit bounds the jobs of all, of a queue or of a kind, on all nodes, from
// now on; one that says nothing removes the bound. It fails with ErrInvalid.
func (c *Client) SetLimit(ctx context.Context, limit Limit) error {
	if err := NormalizeLimit(&limit); err != nil {
		return err
	}
	return c.store.SetLimit(ctx, limit)
}

// Limits lists every limit with its use, those of tenants included.
func (c *Client) Limits(ctx context.Context) ([]LimitUse, error) { return c.store.Limits(ctx) }

// Usage returns what all jobs together have and do, and those of each tenant and
// of each queue.
func (c *Client) Usage(ctx context.Context) (UsageReport, error) { return c.store.Usage(ctx) }

// Explain says why a job does not run, or how it runs, or fails with ErrNotFound.
func (c *Client) Explain(ctx context.Context, id int64) (Explanation, error) {
	return c.store.Explain(ctx, id)
}
