package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// latency measures, on an otherwise idle node, the time from the call of Enqueue to the
// start of the handler.
func (b Bench) latency(ctx context.Context) (Result, error) {
	var s stopwatch
	defer b.Progress.watch(Latency, int64(b.Spec.Jobs), s.count)()
	m, err := b.startMeter(ctx)
	if err != nil {
		return Result{}, err
	}
	working, stop := startWork(ctx, b.Scheduler, Events{Started: s.started, Ended: func() {}})
	err = b.warmUp(working, &s)
	var elapsed time.Duration
	if err == nil {
		elapsed, err = b.sample(working, &s)
	}
	// End the workers before reading the meter: the CPU time of another process is known only
	// after its end.
	stopErr := stop()
	used, measureErr := m.stop()
	if err := firstError(stopErr, err, measureErr); err != nil {
		return Result{}, err
	}
	used.elapsed = elapsed
	result := used.perJob(s.count())
	result.P50Millis, result.P99Millis = millis(quantile(s.waits, 0.50)), millis(quantile(s.waits, 0.99))
	result.EnqueueP50Millis = millis(quantile(s.calls, 0.50))
	return result, nil
}

// warmUp runs some jobs, so that connections are open.
func (b Bench) warmUp(ctx context.Context, s *stopwatch) error {
	const jobs, patience = 20, 30 * time.Second
	for range jobs {
		if err := b.Scheduler.Enqueue(ctx, []Args{NewArgs()}); err != nil {
			return err
		}
	}
	return s.await(ctx, patience, func() bool { return s.warm >= jobs })
}

// sample enqueues single jobs, about fifty per second. The pauses vary so that they do not
// synchronize with a scheduler that polls.
func (b Bench) sample(ctx context.Context, s *stopwatch) (time.Duration, error) {
	const pause, patience = 20 * time.Millisecond, 30 * time.Second
	began, sent := time.Now(), 0
	for (b.Spec.Jobs == 0 || sent < b.Spec.Jobs) && (b.Spec.Seconds == 0 || time.Since(began) < b.Spec.duration()) {
		time.Sleep(pause/2 + rand.N(pause))
		args := NewArgs()
		call := time.Now()
		args.At = call.UnixNano()
		if err := b.Scheduler.Enqueue(ctx, []Args{args}); err != nil {
			return 0, err
		}
		s.called(time.Since(call))
		sent++
	}
	elapsed := time.Since(began)
	return elapsed, s.await(ctx, patience, func() bool { return len(s.waits) >= sent })
}

// stopwatch collects samples.
type stopwatch struct {
	mu    sync.Mutex
	warm  int             // number of starts that are not measured
	waits []time.Duration // times from the call to the start of the handler
	calls []time.Duration // durations of the calls
}

func (s *stopwatch) started(waited time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waited == 0 {
		s.warm++
		return
	}
	s.waits = append(s.waits, waited)
}

func (s *stopwatch) called(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, took)
}

func (s *stopwatch) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.waits))
}

// await waits until enough returns true.
func (s *stopwatch) await(ctx context.Context, patience time.Duration, enough func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("timed out: enqueued jobs did not start"))
	defer cancel()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		s.mu.Lock()
		done := enough()
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// quantile returns the sample at a quantile, or zero if there are no samples.
func quantile(samples []time.Duration, part float64) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
