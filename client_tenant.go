package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// PutTenant creates the tenant if its Version is zero. Otherwise it replaces the stored
// tenant, whose Version must match. A tenant that was paused before it was created stays
// paused. PutTenant returns ErrInvalid if the tenant is invalid, ErrConflict if the tenant
// already exists or its Version does not match the stored Version, and ErrNotFound if the
// tenant no longer exists.
func (c *Client) PutTenant(ctx context.Context, tenant Tenant) (Tenant, error) {
	if err := NormalizeTenant(&tenant); err != nil {
		return Tenant{}, err
	}
	return c.store.PutTenant(ctx, tenant)
}

// DeleteTenant removes a tenant's declaration and keeps its finished jobs. It returns
// ErrNotFound if the tenant is not declared, and ErrConflict if the tenant has unfinished
// jobs or is the parent of other tenants.
func (c *Client) DeleteTenant(ctx context.Context, name string) error {
	if _, err := c.Tenant(ctx, name); err != nil {
		return err
	}
	count, err := c.store.TallyUpTo(ctx, Filter{Tenants: []string{name}, States: liveStates()}, countedOfTenant)
	if err != nil {
		return err
	}
	if count.Total() > 0 {
		return tenantHasJobs(name, count)
	}
	return c.store.DeleteTenant(ctx, name)
}

// countedOfTenant is up to how many jobs of a tenant that cannot be deleted are counted.
const countedOfTenant = 100_000

// tenantHasJobs is the ErrConflict of a tenant with unfinished jobs.
func tenantHasJobs(name string, count Count) error {
	more, jobs := "", "jobs"
	if count.More {
		more = "more than "
	}
	if count.Total() == 1 {
		jobs = "job"
	}
	return fmt.Errorf("tenant %q has %s%d unfinished %s; wait for them to end, cancel them, or delete the tenant with force, which cancels them: %w",
		name, more, count.Total(), jobs, ErrConflict)
}

// liveStates are the states of jobs that have not ended.
func liveStates() []State {
	return slices.DeleteFunc(States(), State.Final)
}

// DeleteTenantWithJobs cancels a tenant's unfinished jobs, asks its running jobs to stop,
// and removes its declaration. It returns the number of jobs that it cancelled or asked to
// stop. It returns ErrNotFound if the tenant is not declared. If the tenant is the parent of
// other tenants, DeleteTenantWithJobs returns ErrConflict and cancels nothing.
func (c *Client) DeleteTenantWithJobs(ctx context.Context, name string) (cancelled int, err error) {
	if _, err := c.Tenant(ctx, name); err != nil {
		return 0, err
	}
	child, err := c.childOf(ctx, name)
	if err != nil {
		return 0, err
	}
	if child != "" {
		return 0, fmt.Errorf("tenant %q is the parent of %q: %w", name, child, ErrConflict)
	}
	if cancelled, err = c.cancelAll(ctx, name, "its tenant was deleted"); err != nil {
		return cancelled, err
	}
	return cancelled, c.store.DeleteTenant(ctx, name)
}

// childOf returns the name of a tenant whose parent this is; empty: there is none.
func (c *Client) childOf(ctx context.Context, name string) (string, error) {
	filter := TenantFilter{Limit: 10 * DefaultPage}
	for {
		page, err := c.store.Tenants(ctx, filter)
		if err != nil {
			return "", err
		}
		for i := range page {
			if page[i].Parent == name {
				return page[i].Name, nil
			}
			filter.After = page[i].Name
		}
		if len(page) < filter.Limit {
			return "", nil
		}
	}
}

// cancelAll cancels the unfinished jobs of a tenant. A job that ends or is removed
// meanwhile needs no cancelling.
func (c *Client) cancelAll(ctx context.Context, tenant, reason string) (cancelled int, err error) {
	filter := Filter{Tenants: []string{tenant}, States: liveStates(), Limit: 10 * DefaultPage}
	for {
		page, err := c.store.FindPage(ctx, filter)
		if err != nil {
			return cancelled, err
		}
		for _, job := range page.Jobs {
			switch err := c.Cancel(ctx, job.ID, reason); {
			case err == nil:
				cancelled++
			case !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotFound):
				return cancelled, err
			}
		}
		if filter.Below = page.Next; page.Next == 0 {
			return cancelled, nil
		}
	}
}

// Tenant returns a declared tenant. It returns ErrNotFound if no tenant with this name is
// declared.
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

// Tenants lists declared tenants, ordered by name, one page at a time.
func (c *Client) Tenants(ctx context.Context, filter TenantFilter) ([]Tenant, error) {
	return c.store.Tenants(ctx, filter)
}

// PauseTenant stops all nodes from starting jobs of a tenant and its children until
// ResumeTenant is called. Running jobs continue. PauseTenant returns ErrInvalid if the name
// is invalid.
func (c *Client) PauseTenant(ctx context.Context, name string) error {
	return c.Pause(ctx, Pause{Scope: PauseTenant, Name: name})
}

// ResumeTenant resumes a paused tenant. It has no effect if the tenant is not paused.
func (c *Client) ResumeTenant(ctx context.Context, name string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseTenant, Name: name})
}

// SetLimit sets the limit for all jobs, a queue or a kind. The limit applies to all nodes
// immediately. A limit without values removes the existing limit. SetLimit returns
// ErrInvalid if the limit is invalid.
func (c *Client) SetLimit(ctx context.Context, limit Limit) error {
	if err := NormalizeLimit(&limit); err != nil {
		return err
	}
	return c.store.SetLimit(ctx, limit)
}

// Limits lists all limits, including tenants' limits, with their current use.
func (c *Client) Limits(ctx context.Context) ([]LimitUse, error) { return c.store.Limits(ctx) }

// Usage returns the current load of all jobs together, and of each tenant, queue and kind.
func (c *Client) Usage(ctx context.Context) (UsageReport, error) { return c.store.Usage(ctx) }

// Explain reports why a job is not running, or the status of its current run. It returns
// ErrNotFound if the job does not exist.
func (c *Client) Explain(ctx context.Context, id int64) (Explanation, error) {
	return c.store.Explain(ctx, id)
}
