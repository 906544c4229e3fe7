package server

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// batch fails for a batch of another's tenant, as if it did not exist.
func (s scoped) batch(ctx context.Context, id int64) error {
	if !callerOf(ctx).identity.bound() {
		return nil
	}
	found, err := s.Batches(ctx, fairlead.BatchFilter{IDs: []int64{id}})
	if err == nil && len(found) == 0 {
		return fmt.Errorf("batch %d: %w", id, fairlead.ErrNotFound)
	}
	return err
}

// CreateBatch stores a batch for a tenant of the caller's, whose completion makes
// jobs only for such.
func (s scoped) CreateBatch(ctx context.Context, batch fairlead.Batch) (fairlead.Batch, error) {
	tasks := &fairlead.Job{Tenant: batch.Tenant}
	if err := fairlead.CheckUnreserved("", tasks); err != nil {
		return fairlead.Batch{}, err
	}
	jobs := []*fairlead.Job{tasks}
	for i := range batch.Then {
		if err := fairlead.CheckUnreserved(fmt.Sprintf("then[%d].", i), &batch.Then[i]); err != nil {
			return fairlead.Batch{}, err
		}
		jobs = append(jobs, &batch.Then[i])
	}
	if err := ownJobs(ctx, jobs); err != nil {
		return fairlead.Batch{}, err
	}
	return s.store.CreateBatch(ctx, batch)
}

// AddParts stores parts of a batch of the caller's.
func (s scoped) AddParts(ctx context.Context, id int64, parts []fairlead.Part) error {
	if err := s.batch(ctx, id); err != nil {
		return err
	}
	return s.store.AddParts(ctx, id, parts)
}

// DropParts removes parts of a batch of the caller's.
func (s scoped) DropParts(ctx context.Context, id int64, pass int) error {
	if err := s.batch(ctx, id); err != nil {
		return err
	}
	return s.store.DropParts(ctx, id, pass)
}

// Conduct acts upon a batch of the caller's.
func (s scoped) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *fairlead.Batch, fairlead.BatchTx) error) (bool, error) {
	if err := s.batch(ctx, id); err != nil {
		return false, err
	}
	return s.store.Conduct(ctx, id, wait, act)
}

// Batches lists the caller's of the batches.
func (s scoped) Batches(ctx context.Context, filter fairlead.BatchFilter) ([]fairlead.Batch, error) {
	tenants, some := narrow(ctx, filter.Tenants)
	if !some {
		return nil, nil
	}
	filter.Tenants = tenants
	return s.store.Batches(ctx, filter)
}

// Parts lists parts of a batch of the caller's.
func (s scoped) Parts(ctx context.Context, id int64, filter fairlead.PartFilter) ([]fairlead.Part, error) {
	if err := s.batch(ctx, id); err != nil {
		return nil, err
	}
	return s.store.Parts(ctx, id, filter)
}
