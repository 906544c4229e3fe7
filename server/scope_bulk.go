package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// bulk fails for a bulk that is about jobs of others too, as if it did not exist.
func (s scoped) bulk(ctx context.Context, id int64) error {
	shown := func(ctx context.Context, filter bulk.Filter) ([]bulk.Bulk, error) {
		page, err := s.Bulks(ctx, filter)
		return page.Bulks, err
	}
	return visible(ctx, "bulk", id, shown, bulk.Filter{IDs: []int64{id}})
}

// AddBulk stores a bulk that is about jobs of the caller's tenants; once, if the request has a
// key. It acts in the caller's name.
func (s scoped) AddBulk(ctx context.Context, once *fairlead.Once, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	if key, given := onceOf(ctx); given {
		once = &key
	}
	who := callerOf(ctx)
	for _, tenant := range b.Filter.Tenants {
		if !who.identity.touches(tenant) {
			return bulk.Bulk{}, errTenant(tenant)
		}
	}
	narrow(ctx, &b.Filter.Tenants)
	b.Actor, b.Role, b.From = who.identity.Name, who.identity.Role, who.from
	stored, err := s.store.AddBulk(ctx, once, b, job)
	if err == nil && once != nil {
		err = s.bulk(ctx, stored.ID) // the caller may be bound otherwise than when it was made
	}
	if err != nil {
		return bulk.Bulk{}, err
	}
	return stored, nil
}

// Bulks lists the bulks that are about jobs of the caller's tenants alone.
func (s scoped) Bulks(ctx context.Context, filter bulk.Filter) (bulk.Page, error) {
	if !narrow(ctx, &filter.Tenants) {
		return bulk.Page{}, nil
	}
	return s.store.Bulks(ctx, filter)
}

// BulkMisses lists what a bulk of the caller's has left as it was.
func (s scoped) BulkMisses(ctx context.Context, id int64, filter bulk.MissFilter) ([]bulk.Miss, error) {
	if err := s.bulk(ctx, id); err != nil {
		return nil, err
	}
	return s.store.BulkMisses(ctx, id, filter)
}

// StopBulk asks a bulk of the caller's to stop.
func (s scoped) StopBulk(ctx context.Context, id int64) error {
	if err := s.bulk(ctx, id); err != nil {
		return err
	}
	return s.store.StopBulk(ctx, id)
}

// DeleteBulk removes a bulk of the caller's.
func (s scoped) DeleteBulk(ctx context.Context, id int64) error {
	if err := s.bulk(ctx, id); err != nil {
		return err
	}
	return s.store.DeleteBulk(ctx, id)
}

// StepBulk is for nodes.
func (s scoped) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	if err := whole(ctx); err != nil {
		return bulk.Bulk{}, err
	}
	return s.store.StepBulk(ctx, step)
}
