package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// tenantRun is one measurement: jobs of some tenants in a queue of their own.
type tenantRun struct {
	*Tenancy
	queue   string
	tenants []string
	stores  []driver.Store // one per node
	client  *fairlead.Client
	tally   *tally
	started func(*fairlead.Job, Args)
	work    time.Duration // duration of each job
	options engine.Options
}

// newRun opens a store for each node.
func (t *Tenancy) newRun(ctx context.Context, nodes, tenants int) (*tenantRun, error) {
	r := &tenantRun{Tenancy: t, queue: OwnQueue(), tally: newTally(), started: func(*fairlead.Job, Args) {}}
	r.options = engine.Options{Name: "bench", Slots: 1000 / nodes, QueueSize: 500 / nodes, ClaimBatch: LoadClaimBatch}
	for i := range tenants {
		r.tenants = append(r.tenants, fmt.Sprintf("%s-%d", r.queue, i))
	}
	for range nodes {
		store, err := t.Open(ctx)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.stores = append(r.stores, store)
	}
	r.client = fairlead.NewClient(r.stores[0])
	return r, nil
}

func (r *tenantRun) close() error {
	var errs []error
	for _, store := range r.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}

// cap limits each tenant, and all together. undo removes the limits; if cap fails, it has
// already removed them.
func (r *tenantRun) cap(ctx context.Context, each, all int) (undo func() error, err error) {
	var declared []string
	undo = func() error {
		ctx := context.WithoutCancel(ctx)
		var errs []error
		for _, name := range declared {
			errs = append(errs, r.stores[0].DeleteTenant(ctx, name))
		}
		return errors.Join(append(errs, r.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal}))...)
	}
	for _, name := range r.tenants {
		if _, err := r.client.PutTenant(ctx, fairlead.Tenant{Name: name, MaxRunning: each}); err != nil {
			return nil, errors.Join(err, undo())
		}
		declared = append(declared, name)
	}
	if err := r.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: all}); err != nil {
		return nil, errors.Join(err, undo())
	}
	return undo, nil
}

// fill enqueues n jobs, assigned to the tenants in turn.
func (r *tenantRun) fill(ctx context.Context, n int, tenants []string) error {
	const batch = 1000
	kind := fairlead.NewKind[Args](KindOwn)
	for sent := 0; sent < n; {
		jobs := make([]*fairlead.Job, min(batch, n-sent))
		for i := range jobs {
			jobs[i] = kind.Job(NewArgs())
			jobs[i].Queue, jobs[i].Tenant = r.queue, tenants[(sent+i)%len(tenants)]
		}
		if err := r.client.Enqueue(ctx, jobs...); err != nil {
			return err
		}
		sent += len(jobs)
	}
	return nil
}

// start runs the nodes; stop ends them.
func (r *tenantRun) start(ctx context.Context) (working context.Context, stop func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var nodes sync.WaitGroup
	errs := make([]error, len(r.stores))
	for i, store := range r.stores {
		nodes.Go(func() {
			if errs[i] = engine.Run(ctx, store, r.mux(), r.nodeOptions()); errs[i] != nil {
				cancel(errs[i])
			}
		})
	}
	return ctx, func() error {
		cancel(errStopped)
		nodes.Wait()
		return errors.Join(errs...)
	}
}

func (r *tenantRun) mux() *fairlead.Mux {
	mux := fairlead.NewMux()
	fairlead.NewKind[Args](KindOwn).Handle(mux, func(ctx context.Context, job *fairlead.Job, args Args) error {
		r.started(job, args)
		if r.work == 0 {
			return nil
		}
		timer := time.NewTimer(r.work)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return mux
}

func (r *tenantRun) nodeOptions() engine.Options {
	o := r.options
	o.Queues = []engine.Queue{{Name: r.queue}}
	o.Retention = keepAll()
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o.Observer = &endings{ended: r.tally.end}
	return o
}

// drain measures the run of the given number of ready jobs.
func (r *tenantRun) drain(ctx context.Context, jobs int) (Result, error) {
	defer r.Progress.watch(Tenants, int64(jobs), r.tally.ended.Load)()
	m, err := startMeter(ctx, r.Server)
	if err != nil {
		return Result{}, err
	}
	working, stop := r.start(ctx)
	err = r.tally.await(working, int64(jobs))
	used, measureErr := m.stop()
	if err := firstError(stop(), err, measureErr); err != nil {
		return Result{}, err
	}
	return used.perJob(int64(jobs)), nil
}

// steady measures for some time how nodes run jobs that are plentiful, after the nodes have
// warmed up. Then it runs the remaining jobs.
func (r *tenantRun) steady(ctx context.Context, jobs int, warm, long time.Duration) (Result, error) {
	defer r.Progress.watch(Tenants, int64(jobs), r.tally.ended.Load)()
	working, stop := r.start(ctx)
	result, err := r.measureFor(working, warm, long)
	if err == nil {
		err = r.tally.await(working, int64(jobs))
	}
	return result, firstError(stop(), err)
}

func (r *tenantRun) measureFor(working context.Context, warm, long time.Duration) (Result, error) {
	if err := pass(working, warm); err != nil {
		return Result{}, err
	}
	m, err := startMeter(working, r.Server)
	if err != nil {
		return Result{}, err
	}
	before := r.tally.ended.Load()
	if err := pass(working, long); err != nil {
		return Result{}, err
	}
	ended := r.tally.ended.Load() - before
	used, err := m.stop()
	return used.perJob(ended), err
}

// pass waits for some time, unless the work ends earlier.
func pass(working context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-working.Done():
		return context.Cause(working)
	}
}
