package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const manyTenants = 20

// caps drains jobs of some tenants, alternately without caps and with caps that do not take
// effect.
func (t *Tenancy) caps(nodes, global int) func(context.Context) (Part, error) {
	return func(ctx context.Context) (Part, error) {
		return inPairs(t.Pairs, func(capped bool) (Result, error) { return t.drainCapped(ctx, nodes, global, capped) })
	}
}

// inPairs measures alternately without and with the feature of a part, and compares the
// medians.
func inPairs(pairs int, measure func(with bool) (Result, error)) (Part, error) {
	results := map[bool][]Result{}
	for range pairs {
		for _, with := range []bool{false, true} {
			result, err := measure(with)
			if err != nil {
				return Part{}, err
			}
			results[with] = append(results[with], result)
		}
	}
	without := median(results[false])
	part := Part{Result: median(results[true]), Without: &without}
	part.Ratio = round(part.Rate/without.Rate, 3)
	return part, nil
}

func (t *Tenancy) drainCapped(ctx context.Context, nodes, global int, capped bool) (_ Result, err error) {
	r, err := t.newRun(ctx, nodes, manyTenants)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if capped {
		const each = 100
		undo, capErr := r.cap(ctx, each, global)
		if capErr != nil {
			return Result{}, capErr
		}
		defer func() { err = errors.Join(err, undo()) }()
	}
	if err := r.fill(ctx, t.Jobs, r.tenants); err != nil {
		return Result{}, err
	}
	time.Sleep(settleTime)
	return r.drain(ctx, t.Jobs)
}

// binding keeps tenants at their caps and measures the usage of the caps while all tenants
// have more jobs.
func (t *Tenancy) binding(ctx context.Context) (_ Part, err error) {
	const nodes, each, work, warm = 4, 10, 100 * time.Millisecond, time.Second
	r, err := t.newRun(ctx, nodes, manyTenants)
	if err != nil {
		return Part{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.work = work
	undo, err := r.cap(ctx, each, 0)
	if err != nil {
		return Part{}, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	long := time.Duration(t.Seconds * float64(time.Second))
	jobs := manyTenants * each * int((warm+long)/work+1) // more than can run in that time
	if err := r.fill(ctx, jobs, r.tenants); err != nil {
		return Part{}, err
	}
	result, err := r.steady(ctx, jobs, warm, long)
	part := Part{Result: result}
	part.Busy = round(result.Rate*work.Seconds()/float64(manyTenants*each), 3)
	return part, err
}

// crowd measures how soon jobs of small tenants start, alone and next to a tenant that is
// at its cap and has a large backlog.
func (t *Tenancy) crowd(ctx context.Context) (_ Part, err error) {
	const small = 100
	var results [2]Result
	for i, backlog := range []int{0, t.Backlog} {
		if results[i], err = t.smallLatency(ctx, small, backlog); err != nil {
			return Part{}, err
		}
	}
	part := Part{Result: results[1], Without: &results[0]}
	part.Ratio = ratio(part.P99Millis, results[0].P99Millis)
	return part, nil
}

func (t *Tenancy) smallLatency(ctx context.Context, small, backlog int) (_ Result, err error) {
	r, err := t.newRun(ctx, 1, small)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.options.Slots, r.options.QueueSize, r.options.ClaimBatch = 0, 0, 0 // the engine's defaults
	undo, err := r.crowded(ctx, backlog)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	var s stopwatch
	r.started = func(_ *fairlead.Job, args Args) {
		if args.At != 0 {
			s.started(args.Waited())
		}
	}
	m, err := startMeter(ctx, r.Server)
	if err != nil {
		return Result{}, err
	}
	working, stop := r.start(ctx)
	err = r.sample(working, &s)
	used, measureErr := m.stop()
	if err := firstError(stop(), err, measureErr); err != nil {
		return Result{}, err
	}
	result := used.perJob(s.count())
	result.P50Millis, result.P99Millis = millis(quantile(s.waits, 0.50)), millis(quantile(s.waits, 0.99))
	return result, nil
}

// crowded adds a tenant at its cap: one job holds its only slot, and many wait.
func (r *tenantRun) crowded(ctx context.Context, backlog int) (undo func() error, err error) {
	large := r.queue + "-large"
	tenant := fairlead.Tenant{Name: large, MaxRunning: 1}
	if _, err := r.client.PutTenant(ctx, tenant); err != nil {
		return nil, err
	}
	forget := func() error { return r.stores[0].DeleteTenant(context.WithoutCancel(ctx), large) }
	if backlog == 0 {
		return forget, nil
	}
	if err := r.fill(ctx, backlog, []string{large}); err != nil {
		return nil, errors.Join(err, forget())
	}
	store := r.stores[0]
	const long = time.Hour
	node, err := store.Join(ctx, fairlead.Node{Name: "bench holds a slot"}, long)
	if err != nil {
		return nil, errors.Join(err, forget())
	}
	scope := &driver.Scope{Queues: []string{r.queue}, Kinds: []string{KindOwn}}
	if _, err := store.Claim(ctx, driver.Claim{Node: node, Scope: scope, Max: 1}); err != nil {
		return nil, errors.Join(err, forget())
	}
	return func() error {
		return errors.Join(store.Leave(context.WithoutCancel(ctx), node), forget())
	}, nil
}

// sample enqueues single jobs of random small tenants, about fifty per second.
func (r *tenantRun) sample(ctx context.Context, s *stopwatch) error {
	const pause, warm, patience = 20 * time.Millisecond, 20, 30 * time.Second
	kind := fairlead.NewKind[Args](KindOwn)
	began, sent := time.Now(), 0
	for n := 0; time.Since(began) < time.Duration(r.Seconds*float64(time.Second)); n++ {
		time.Sleep(pause/2 + rand.N(pause))
		args := NewArgs()
		if n >= warm {
			args.At = time.Now().UnixNano()
			sent++
		}
		job := kind.Job(args)
		job.Queue, job.Tenant = r.queue, r.tenants[rand.IntN(len(r.tenants))]
		if err := r.client.Enqueue(ctx, job); err != nil {
			return err
		}
	}
	return s.await(ctx, patience, func() bool { return len(s.waits) >= sent })
}

// many drains jobs of very many tenants, and for comparison jobs of one.
func (t *Tenancy) many(ctx context.Context) (Part, error) {
	const each, fewPairs = 10, 3
	return inPairs(min(t.Pairs, fewPairs), func(many bool) (Result, error) {
		if many {
			return t.drainMany(ctx, t.Jobs/each)
		}
		return t.drainMany(ctx, 1)
	})
}

func (t *Tenancy) drainMany(ctx context.Context, tenants int) (_ Result, err error) {
	r, err := t.newRun(ctx, 1, tenants)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.fill(ctx, t.Jobs, r.tenants); err != nil {
		return Result{}, err
	}
	time.Sleep(settleTime)
	return r.drain(ctx, t.Jobs)
}
