package bench

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// enqueue stores jobs: one caller in batches, or many callers with one job per call. No
// node runs them.
func (b Bench) enqueue(ctx context.Context) (Result, error) {
	callers, batch := 1, b.Spec.Batch
	if b.Spec.Clients > 0 {
		callers, batch = b.Spec.Clients, 1
	}
	m, err := b.startMeter(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := b.store(ctx, callers, batch); err != nil {
		return Result{}, err
	}
	used, err := m.stop()
	if err != nil {
		return Result{}, err
	}
	result := used.perJob(int64(b.Spec.Jobs))
	result.Clients, result.Batch = callers, batch
	return result, nil
}

// store enqueues the number of jobs in the Spec.
func (b Bench) store(ctx context.Context, callers, batch int) error {
	jobs := int64(b.Spec.Jobs)
	var given, stored atomic.Int64
	defer b.Progress.watch("enqueue", jobs, stored.Load)()
	group, ctx := errgroup.WithContext(ctx)
	for range callers {
		group.Go(func() error {
			for {
				after := given.Add(int64(batch))
				n := int64(batch) - max(0, after-jobs)
				if n <= 0 {
					return nil
				}
				if err := b.Scheduler.Enqueue(ctx, newBatch(int(n))); err != nil {
					return err
				}
				stored.Add(n)
			}
		})
	}
	return group.Wait()
}
