package bench

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// maxOutstanding limits the backlog of sustained: large enough that workers are always
// busy, small enough that running the rest at the end hardly counts.
const maxOutstanding = 10_000

// sustained stores and runs jobs at the same time. It ends when all jobs stored in the
// given time have been run, so that every job counts with both costs.
func (b Bench) sustained(ctx context.Context) (Result, error) {
	t := newTally()
	defer b.Progress.watch(b.Spec.Workload, 0, t.ended.Load)()

	m, err := b.startMeter(ctx)
	if err != nil {
		return Result{}, err
	}
	course := follow(t.ended.Load)
	working, stop := startWork(ctx, b.Scheduler, t.events())
	err = b.insert(working, t)
	course.stop()
	if err == nil {
		err = t.await(working, t.enqueued.Load())
	}
	used, measureErr := m.stop()
	if err := firstError(stop(), err, measureErr); err != nil {
		return Result{}, err
	}
	result := used.perJob(t.ended.Load())
	result.Clients, result.Batch = b.Spec.Clients, b.Spec.Batch
	result.RateFirstThird, result.RateLastThird = course.thirds()
	return result, nil
}

// insert stores jobs from all clients until the Spec's time or number of jobs is used up.
func (b Bench) insert(ctx context.Context, t *tally) error {
	began, batch, jobs := time.Now(), int64(b.Spec.Batch), int64(b.Spec.Jobs)
	over := func() bool {
		return (b.Spec.Seconds > 0 && time.Since(began) >= b.Spec.duration()) || (jobs > 0 && t.enqueued.Load() >= jobs)
	}
	group, ctx := errgroup.WithContext(ctx)
	for range b.Spec.Clients {
		group.Go(func() error {
			for !over() {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if t.outstanding()+batch > maxOutstanding {
					time.Sleep(time.Millisecond)
					continue
				}
				t.enqueued.Add(batch)
				if err := b.Scheduler.Enqueue(ctx, newBatch(int(batch))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
