package scope

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// batch returns ErrNotFound for a batch of another tenant.
func (s Restricted) batch(ctx context.Context, id int64) error {
	return visible(ctx, "batch", id, s.Batches, batch.Filter{IDs: []int64{id}})
}

// CreateBatch stores a batch for a tenant of the caller. The follow-up jobs of the batch
// must also belong to the caller's tenants.
func (s Restricted) CreateBatch(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	if err := CheckBatch(ctx, &b); err != nil {
		return batch.Batch{}, err
	}
	for i := range b.Then {
		if err := s.unmasked(ctx, fmt.Sprintf("then[%d].args", i), b.Then[i].Kind, b.Then[i].Args); err != nil {
			return batch.Batch{}, err
		}
	}
	return s.store.CreateBatch(ctx, b)
}

// CheckBatch rejects a batch with tasks or follow-up jobs that the caller must not create.
func CheckBatch(ctx context.Context, b *batch.Batch) error {
	tasks := &fairlead.Job{Tenant: b.Tenant}
	if err := CheckUnreserved("", tasks); err != nil {
		return err
	}
	jobs := []*fairlead.Job{tasks}
	for i := range b.Then {
		if err := CheckUnreserved(fmt.Sprintf("then[%d].", i), &b.Then[i]); err != nil {
			return err
		}
		jobs = append(jobs, &b.Then[i])
	}
	return ownJobs(ctx, jobs)
}

// AddChunks stores chunks of a batch of the caller.
func (s Restricted) AddChunks(ctx context.Context, id int64, chunks []batch.Chunk) error {
	if err := s.batch(ctx, id); err != nil {
		return err
	}
	if err := s.unmaskedTasks(ctx, chunks); err != nil {
		return err
	}
	return s.store.AddChunks(ctx, id, chunks)
}

// DropChunks deletes chunks of a batch of the caller.
func (s Restricted) DropChunks(ctx context.Context, id int64, pass int) error {
	if err := s.batch(ctx, id); err != nil {
		return err
	}
	return s.store.DropChunks(ctx, id, pass)
}

// DeleteBatch deletes a batch of the caller.
func (s Restricted) DeleteBatch(ctx context.Context, id int64) error {
	if err := s.batch(ctx, id); err != nil {
		return err
	}
	return s.store.DeleteBatch(ctx, id)
}

// Conduct acts on a batch of the caller.
func (s Restricted) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *batch.Record, batch.Tx) error) (bool, error) {
	if err := s.batch(ctx, id); err != nil {
		return false, err
	}
	return s.store.Conduct(ctx, id, wait, act)
}

// Batches returns the batches of the caller.
func (s Restricted) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Batches(ctx, filter)
}

// Chunks returns chunks of a batch of the caller.
func (s Restricted) Chunks(ctx context.Context, id int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	if err := s.batch(ctx, id); err != nil {
		return nil, err
	}
	return s.store.Chunks(ctx, id, filter)
}
