package scope

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// bulk returns ErrNotFound for a bulk that also applies to jobs of other tenants.
func (s Restricted) bulk(ctx context.Context, id int64) error {
	shown := func(ctx context.Context, filter bulk.Filter) ([]bulk.Bulk, error) {
		page, err := s.Bulks(ctx, filter)
		return page.Bulks, err
	}
	return visible(ctx, "bulk", id, shown, bulk.Filter{IDs: []int64{id}})
}

// AddBulk stores a bulk for jobs of the caller's tenants; only once if the request has an
// idempotency key. The bulk acts on behalf of the caller.
func (s Restricted) AddBulk(ctx context.Context, once *fairlead.Once, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	if key, given := caller.OnceOf(ctx); given {
		once = &key
	}
	who := caller.Of(ctx)
	for _, tenant := range b.Filter.Tenants {
		if !who.Identity.MayAccess(tenant) {
			return bulk.Bulk{}, caller.ErrTenant(tenant)
		}
	}
	narrow(ctx, &b.Filter.Tenants)
	b.Actor, b.Role, b.From = who.Identity.Name, who.Identity.Role, who.From
	stored, err := s.store.AddBulk(ctx, once, b, job)
	if err == nil && once != nil {
		err = s.bulk(ctx, stored.ID) // the caller's tenants may have changed since the bulk was created
	}
	if err != nil {
		return bulk.Bulk{}, err
	}
	return stored, nil
}

// Bulks returns the bulks that apply only to jobs of the caller's tenants.
func (s Restricted) Bulks(ctx context.Context, filter bulk.Filter) (bulk.Page, error) {
	if !narrow(ctx, &filter.Tenants) {
		return bulk.Page{}, nil
	}
	return s.store.Bulks(ctx, filter)
}

// BulkMisses returns the jobs that a bulk of the caller left unchanged.
func (s Restricted) BulkMisses(ctx context.Context, id int64, filter bulk.MissFilter) ([]bulk.Miss, error) {
	if err := s.bulk(ctx, id); err != nil {
		return nil, err
	}
	return s.store.BulkMisses(ctx, id, filter)
}

// StopBulk requests that a bulk of the caller stop.
func (s Restricted) StopBulk(ctx context.Context, id int64) error {
	if err := s.bulk(ctx, id); err != nil {
		return err
	}
	return s.store.StopBulk(ctx, id)
}

// DeleteBulk deletes a bulk of the caller.
func (s Restricted) DeleteBulk(ctx context.Context, id int64) error {
	if err := s.bulk(ctx, id); err != nil {
		return err
	}
	return s.store.DeleteBulk(ctx, id)
}

// StepBulk performs a step of a bulk operation. It is only for nodes and other callers that
// are not bound to tenants.
func (s Restricted) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return bulk.Bulk{}, err
	}
	return s.store.StepBulk(ctx, step)
}
