package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Options configures a demo. The zero value is valid.
type Options struct {
	Logger *slog.Logger // default slog.Default()
}

// Demo manages the demo data in one store.
type Demo struct {
	store     driver.Store
	jobs      *fairlead.Client
	schedules *schedule.Client
	batches   *batch.Client
	sweeps    *sweep.Client
	log       *slog.Logger
}

// New returns the demo for a store. It stores nothing.
func New(store driver.Store, options Options) *Demo {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Demo{
		store: store, jobs: fairlead.NewClient(store), schedules: schedule.NewClient(store),
		batches: batch.NewClient(store), sweeps: sweep.NewClient(store), log: options.Logger,
	}
}

// Declare stores the demo's objects, or restores them to their declared state. Call Check
// first.
func (d *Demo) Declare(ctx context.Context) error {
	own, _, err := ownTenants(ctx, d.jobs)
	if err != nil {
		return err
	}
	if err := d.declareTenants(ctx); err != nil {
		return err
	}
	if len(own) == 0 { // only at first; later an operator decides
		if err := d.jobs.PauseQueue(ctx, pausedQueue); err != nil {
			return err
		}
	}
	if err := d.declareSchedules(ctx); err != nil {
		return err
	}
	if _, err := d.sweeps.Ensure(ctx, declaredSweep()); err != nil {
		return fmt.Errorf("demo sweep %q: %w", sweepName, err)
	}
	return nil
}

// Run keeps the demo active until ctx ends: it creates jobs, starts batches and sweeps, and
// deletes old data.
func (d *Demo) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { d.repeat(ctx, "tend", 10*time.Second, d.tend) })
	loops.Go(func() { d.repeat(ctx, "flow", time.Second, d.flow) })
	loops.Go(func() { d.repeat(ctx, "trim", time.Minute, d.trim) })
	loops.Wait()
}

// repeat calls a function immediately and then at intervals. It reports a persistent
// failure once.
func (d *Demo) repeat(ctx context.Context, what string, every time.Duration, do func(context.Context) error) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	failing := false
	for {
		err := do(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			d.log.Warn("demo step failed", "loop", what, "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// tend recreates objects that should always exist and have ended.
func (d *Demo) tend(ctx context.Context) error {
	now, err := d.store.Now(ctx)
	if err != nil {
		return err
	}
	return errors.Join(d.enqueue(ctx, standing(now)), d.tendBatch(ctx, now), d.tendSweep(ctx, now))
}
