package fairlead

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// PutTenant creates the tenant if its Version is zero, and otherwise replaces the
// stored tenant of that Version. A tenant that was paused before it was created stays
// paused. PutTenant returns ErrInvalid for an invalid tenant, ErrConflict if the tenant
// already exists or has another Version, and ErrNotFound if it no longer exists.
func (c *Client) PutTenant(ctx context.Context, tenant Tenant) (Tenant, error) {
	if err := NormalizeTenant(&tenant); err != nil {
		return Tenant{}, err
	}
	return c.store.PutTenant(ctx, tenant)
}

// DeleteTenant removes a tenant's declaration. The tenant's finished jobs stay.
// DeleteTenant returns ErrNotFound for an undeclared tenant, and ErrConflict while the
// tenant has unfinished jobs or is the parent of other tenants.
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

// DeleteTenantWithJobs cancels a tenant's unfinished jobs, asks its running jobs to
// stop, and removes its declaration. It returns the number of jobs that it cancelled or
// asked to stop. It returns ErrNotFound for an undeclared tenant, and ErrConflict while
// the tenant is the parent of other tenants; then it cancels nothing.
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
			switch err := c.store.Cancel(ctx, job.ID, reason); {
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

// Tenant returns a declared tenant. It returns ErrNotFound for an undeclared one.
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

// Tenants lists declared tenants by name, one page at a time.
func (c *Client) Tenants(ctx context.Context, filter TenantFilter) ([]Tenant, error) {
	return c.store.Tenants(ctx, filter)
}

// PauseTenant stops all nodes from starting jobs of a tenant and its children until
// ResumeTenant is called. Running jobs continue. PauseTenant returns ErrInvalid for an
// invalid name.
func (c *Client) PauseTenant(ctx context.Context, name string) error {
	return c.pause(ctx, Pause{Scope: PauseTenant, Name: name})
}

// ResumeTenant ends the pause of a tenant. It has no effect on a tenant that is not
// paused.
func (c *Client) ResumeTenant(ctx context.Context, name string) error {
	return c.store.Resume(ctx, Pause{Scope: PauseTenant, Name: name})
}

// SetLimit sets the limit of all jobs, a queue or a kind. It applies to all nodes
// immediately. A limit with no values set removes the existing one. SetLimit returns
// ErrInvalid for an invalid limit.
func (c *Client) SetLimit(ctx context.Context, limit Limit) error {
	if err := NormalizeLimit(&limit); err != nil {
		return err
	}
	return c.store.SetLimit(ctx, limit)
}

// Limits lists all limits, including those of tenants, with their current use.
func (c *Client) Limits(ctx context.Context) ([]LimitUse, error) { return c.store.Limits(ctx) }

// Usage returns the current load of all jobs together, of each tenant, of each queue
// and of each kind.
func (c *Client) Usage(ctx context.Context) (UsageReport, error) { return c.store.Usage(ctx) }

// Explain reports why a job is not running, or the status of its current run. It
// returns ErrNotFound for an unknown job.
func (c *Client) Explain(ctx context.Context, id int64) (Explanation, error) {
	return c.store.Explain(ctx, id)
}
