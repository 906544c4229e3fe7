package bench

import "context"

// drain stores a backlog and then measures running it, until the end of every job is
// durable.
func (b Bench) drain(ctx context.Context) (Result, error) {
	if err := b.store(ctx, 1, b.Spec.Batch); err != nil {
		return Result{}, err
	}
	jobs := int64(b.Spec.Jobs)
	t := newTally()
	defer b.Progress.watch(Drain, jobs, t.ended.Load)()

	m, err := b.startMeter(ctx)
	if err != nil {
		return Result{}, err
	}
	course := follow(t.ended.Load)
	working, stop := startWork(ctx, b.Scheduler, t.events())
	err = t.await(working, jobs)
	used, measureErr := m.stop()
	course.stop()
	if err := firstError(stop(), err, measureErr); err != nil {
		return Result{}, err
	}
	result := used.perJob(jobs)
	result.RateFirstThird, result.RateLastThird = course.thirds()
	return result, nil
}

// firstError returns the first error. The first one usually causes the others.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
