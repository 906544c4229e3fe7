package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// A caller uses the store like a program that enqueues jobs and an operator.
type caller struct {
	w         *world
	p         *peer
	random    *rand.Rand
	store     *passing
	jobs      *fairlead.Client
	schedules *schedule.Client
	batches   *batch.Client
	sweeps    *sweep.Client
	bulks     *bulk.Client

	mine  []int64 // jobs that it has enqueued
	made  uint64
	begun []int64 // sweeps
}

func (c *caller) connect() {
	c.store = &passing{Store: c.w.store, w: c.w, p: c.p}
	c.jobs, c.schedules, c.batches = fairlead.NewClient(c.store), schedule.NewClient(c.store), batch.NewClient(c.store)
	c.sweeps, c.bulks = sweep.NewClient(c.store), bulk.NewClient(c.store)
}

// work does one thing after the other until the active period ends.
func (c *caller) work() {
	for time.Now().Before(c.w.ends) {
		time.Sleep(time.Millisecond + c.below(900*time.Millisecond))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		c.act(ctx)
		cancel()
	}
}

func (c *caller) below(d time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(int64(d)))
}

func (c *caller) act(ctx context.Context) {
	chance := c.random.IntN(100)
	switch {
	case chance < 36:
		c.enqueue(ctx)
	case chance < 42:
		c.enqueueOnce(ctx)
	case chance < 49:
		c.enqueueInTx(ctx)
	case chance < 70:
		c.operate(ctx)
	case chance < 76:
		c.pause(ctx)
	case chance < 79:
		c.limit(ctx)
	case chance < 82:
		c.drain(ctx)
	case chance < 88:
		c.startBatch(ctx)
	case chance < 92:
		c.startSweep(ctx)
	case chance < 96:
		c.startBulk(ctx)
	default:
		c.trigger(ctx)
	}
}

// job draws a job.
func (c *caller) job() *fairlead.Job {
	c.made++
	job := kinds[c.random.IntN(len(kinds))].Job(errand{N: uint64(c.p.order)<<32 | c.made})
	job.Tenant = []string{"", bounded, free}[c.random.IntN(3)]
	job.Queue = []string{"", "", side}[c.random.IntN(3)]
	job.Priority = c.random.IntN(3)
	if c.random.IntN(4) == 0 {
		job.NotBefore = time.Now().Add(c.below(10 * time.Second))
	}
	if c.random.IntN(4) == 0 {
		job.Key = fmt.Sprintf("key %d", c.random.IntN(6))
		job.OnDuplicate = []fairlead.OnDuplicate{fairlead.RefuseDuplicate, fairlead.KeepDuplicate, fairlead.ReplaceDuplicate}[c.random.IntN(3)]
	}
	if job.Kind == gated.Name() {
		job.ConcurrencyKey = fmt.Sprintf("gate %d", c.random.IntN(3))
	}
	return job
}

// acknowledged notes jobs that the store has acknowledged.
func (c *caller) acknowledged(jobs []*fairlead.Job) {
	c.w.enter(func(b *book) {
		for _, job := range jobs {
			c.mine = append(c.mine, job.ID)
			b.acknowledged[job.ID] = promise{kind: job.Kind, tenant: job.Tenant, due: job.NotBefore}
		}
	})
	for _, job := range jobs {
		c.w.counts.add(enqueued)
		for what, used := range map[string]bool{withKey: job.Key != "", withGate: job.ConcurrencyKey != "", withTenant: job.Tenant == bounded, delayed: !job.NotBefore.IsZero()} {
			if used {
				c.w.counts.add(what)
			}
		}
	}
}

func (c *caller) enqueue(ctx context.Context) {
	jobs := make([]*fairlead.Job, 1+c.random.IntN(4))
	for i := range jobs {
		jobs[i] = c.job()
	}
	if c.jobs.Enqueue(ctx, jobs...) == nil {
		c.acknowledged(jobs)
	}
}

// enqueueOnce repeats a request until it is answered. It must not count twice.
func (c *caller) enqueueOnce(ctx context.Context) {
	template := c.job()
	template.Key = ""
	once := fairlead.Once{Caller: c.p.name, Key: fmt.Sprint(c.made)}
	for {
		job := *template
		_, err := c.jobs.EnqueueOnce(ctx, once, &job)
		switch {
		case err == nil:
			c.w.counts.add(enqueuedOnce)
			c.acknowledged([]*fairlead.Job{&job})
			c.w.enter(func(b *book) {
				if earlier, repeated := b.once[c.p.name+once.Key]; repeated && earlier != job.ID {
					c.w.violations = append(c.w.violations, fmt.Sprintf("request %s %s was stored as jobs %d and %d", c.p.name, once.Key, earlier, job.ID))
				}
				b.once[c.p.name+once.Key] = job.ID
			})
			if c.random.IntN(3) > 0 {
				return
			}
		case !errors.Is(err, fairlead.ErrUnavailable):
			return
		}
		time.Sleep(time.Millisecond + c.below(500*time.Millisecond))
	}
}

// enqueueInTx enqueues jobs in a transaction that is committed, rolled back, or stays open
// for a while first.
func (c *caller) enqueueInTx(ctx context.Context) {
	tx, err := c.store.beginTx(ctx)
	if err != nil {
		return
	}
	client := c.jobs.Within(tx)
	jobs := []*fairlead.Job{c.job(), c.job()}
	err = client.Enqueue(ctx, jobs...)
	if c.random.IntN(2) == 0 {
		time.Sleep(c.below(2 * time.Second))
	}
	if err != nil || c.random.IntN(3) == 0 {
		tx.rollback()
		return
	}
	if tx.commit(ctx) == nil {
		c.acknowledged(jobs)
		if c.random.IntN(2) == 0 {
			client.Wake()
		}
	}
}

// operate does something with one of its jobs.
func (c *caller) operate(ctx context.Context) {
	if len(c.mine) == 0 {
		return
	}
	const recent = 12
	id := c.mine[max(0, len(c.mine)-1-c.random.IntN(recent))]
	var err error
	what := moved
	switch c.random.IntN(8) {
	case 0, 1:
		what = cancelled
		c.w.enter(func(b *book) { b.touched[id] = true })
		err = c.jobs.Cancel(ctx, id, "the seed says so")
	case 2, 3:
		what = reopened
		err = c.jobs.Retry(ctx, id)
	case 4:
		err = c.jobs.Reschedule(ctx, id, time.Now().Add(c.below(5*time.Second)))
	case 5:
		err = errors.Join(c.jobs.SetPriority(ctx, id, c.random.IntN(5)), c.jobs.SetQueue(ctx, id, side))
	case 6:
		err = c.jobs.RunNow(ctx, id)
	default:
		what = deleted
		c.w.enter(func(b *book) { b.mayVanish[id] = true })
		err = c.jobs.Delete(ctx, id)
	}
	if err == nil {
		c.w.counts.add(what)
	}
}

// pause pauses a queue, a kind or a tenant for a while.
func (c *caller) pause(ctx context.Context) {
	pause := []fairlead.Pause{
		{Scope: fairlead.PauseQueue, Name: side}, {Scope: fairlead.PauseKind, Name: capped.Name()}, {Scope: fairlead.PauseTenant, Name: free},
	}[c.random.IntN(3)]
	if c.jobs.Pause(ctx, pause) != nil {
		return
	}
	c.w.counts.add(pausedSome)
	time.Sleep(c.below(4 * time.Second))
	_ = c.store.Resume(ctx, pause) // if it fails, the world resumes it in the end
}

func (c *caller) limit(ctx context.Context) {
	if c.jobs.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: capped.Name(), MaxRunning: 1 + c.random.IntN(4)}) == nil {
		c.w.counts.add(limitChanged)
	}
}

// drain asks a node to start nothing more, for a while.
func (c *caller) drain(ctx context.Context) {
	nodes, err := c.jobs.Nodes(ctx)
	if err != nil || len(nodes) == 0 {
		return
	}
	node := nodes[c.random.IntN(len(nodes))].ID
	if c.jobs.Drain(ctx, node, true) != nil {
		return
	}
	c.w.counts.add(drainedNode)
	time.Sleep(c.below(3 * time.Second))
	_ = c.jobs.Drain(ctx, node, false)
}

func (c *caller) startBatch(ctx context.Context) {
	changes := make([]batch.Change, 2+c.random.IntN(7))
	c.made++
	for i := range changes {
		changes[i] = batch.Change{Target: batch.Target{ID: fmt.Sprintf("%s-%d-%d", c.p.name, c.made, i), Type: targetType}, After: json.RawMessage(`"after"`)}
		if c.random.IntN(2) == 0 {
			changes[i].Before = json.RawMessage(`"before"`)
		}
	}
	b := batch.Batch{Name: fmt.Sprint(c.made), Type: batchType, MaxRunning: c.random.IntN(4)}
	made, err := c.batches.Start(ctx, b, changes...)
	if err != nil {
		return
	}
	c.w.counts.add(batchStarted)
	c.w.enter(func(b *book) { b.batches = append(b.batches, made.ID) })
	time.Sleep(c.below(3 * time.Second))
	switch c.random.IntN(5) {
	case 0:
		if _, err := c.batches.Cancel(ctx, made.ID, "the seed says so"); err == nil {
			c.w.counts.add(batchCancelled)
		}
	case 1:
		if _, err := c.batches.RollBack(ctx, made.ID, batch.RollBack{}); err == nil {
			c.w.counts.add(batchRolledBack)
		}
	case 2:
		if _, err := c.batches.Pause(ctx, made.ID, ""); err == nil {
			time.Sleep(c.below(2 * time.Second))
			_, _ = c.batches.Resume(ctx, made.ID)
		}
	}
}

func (c *caller) startSweep(ctx context.Context) {
	if len(c.begun) > 0 && c.random.IntN(2) == 0 {
		id := c.begun[c.random.IntN(len(c.begun))]
		if _, err := c.sweeps.Stop(ctx, id, c.p.name, "the seed says so"); err != nil {
			return
		}
		time.Sleep(c.below(4 * time.Second))
		if _, err := c.sweeps.Start(ctx, id, c.p.name); err == nil {
			c.w.counts.add(sweepStopped)
		}
		return
	}
	c.made++
	put, err := c.sweeps.Put(ctx, sweep.Sweep{
		Name: fmt.Sprintf("%s-%d", c.p.name, c.made), Kind: sweptKind, To: 40 + c.random.Int64N(80), InFlight: 1 + c.random.IntN(8), Shards: 1 + c.random.IntN(3),
		Rate: float64(c.random.IntN(2) * 20), Attempts: 3, Backoff: 500 * time.Millisecond, Budget: sweep.Budget{Items: 1000}, Timeout: 5 * time.Second,
	})
	if err != nil {
		return
	}
	c.begun = append(c.begun, put.ID)
	c.w.enter(func(b *book) { b.sweeps = append(b.sweeps, put.ID) })
	if _, err := c.sweeps.Start(ctx, put.ID, c.p.name); err == nil {
		c.w.counts.add(sweepStarted)
	}
}

func (c *caller) startBulk(ctx context.Context) {
	action := []bulk.Action{bulk.Cancel, bulk.Retry, bulk.Retry, bulk.Run, bulk.Prioritize, bulk.Move}[c.random.IntN(6)]
	b := bulk.Bulk{Action: action, Filter: fairlead.Filter{Kinds: []string{kinds[c.random.IntN(len(kinds))].Name()}}, Actor: c.p.name, Role: access.RoleAdmin}
	switch action {
	case bulk.Prioritize:
		b.Priority = c.random.IntN(4)
	case bulk.Move:
		b.Queue = side
	case bulk.Cancel:
		b.Filter.Tenants = []string{bounded}
		c.w.enter(func(b *book) { b.anyCancelled = true })
	}
	made, err := c.bulks.Start(ctx, b)
	if err != nil {
		return
	}
	c.w.counts.add(bulkStarted)
	c.w.enter(func(b *book) { b.bulks = append(b.bulks, made.ID) })
}

func (c *caller) trigger(ctx context.Context) {
	s := c.w.book.schedules[c.random.IntN(len(c.w.book.schedules))]
	if _, err := c.schedules.Trigger(ctx, s.ID, nil); err == nil {
		c.w.counts.add(triggered)
	}
}
