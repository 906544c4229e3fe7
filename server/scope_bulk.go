package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// bulk fails for a bulk that is about jobs of others too, as if it did not exist.
func (s scoped) bulk(ctx context.Context, id int64) error {
	return visible(ctx, "bulk", id, s.Bulks, bulk.Filter{IDs: []int64{id}})
}

// AddBulk stores a bulk that is about jobs of the caller's tenants. It acts in the caller's
// name.
func (s scoped) AddBulk(ctx context.Context, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	who := callerOf(ctx)
	for _, tenant := range b.Filter.Tenants {
		if !who.identity.touches(tenant) {
			return bulk.Bulk{}, errTenant(tenant)
		}
	}
	narrow(ctx, &b.Filter.Tenants)
	b.Actor, b.Role, b.From = who.identity.Name, who.identity.Role, who.from
	return s.store.AddBulk(ctx, b, job)
}

// Bulks lists the bulks that are about jobs of the caller's tenants alone.
func (s scoped) Bulks(ctx context.Context, filter bulk.Filter) ([]bulk.Bulk, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
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

// StepBulk is for nodes.
func (s scoped) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	if err := whole(ctx); err != nil {
		return bulk.Bulk{}, err
	}
	return s.store.StepBulk(ctx, step)
}
