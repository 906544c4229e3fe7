package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/schedule"
)

// A Scenario defines a run: nodes, jobs and disturbances.
type Scenario struct {
	URL     string // URL of an empty database that all workers share
	Open    Opener
	Dir     string // directory for histories and logs
	Seed    uint64 // seed of all random choices
	Jobs    int
	Workers int
	Node    Node
	Plan    func(random *rand.Rand, lease time.Duration) Plan // returns the plan of each job
	Caps    Caps

	// Schedules configures schedules that create jobs in addition to the enqueued ones.
	Schedules Schedules

	// Batches and Sweep run next to the jobs.
	Batches Batches
	Sweep   Swept

	// Callers leave transactions open during the run. Their span is that of the schedules.
	Callers Callers

	// Older workers run before the store is opened, with the tables of their version. Workers
	// of this program replace those that die.
	Older Older

	// Crowd, if set, makes jobs wait in their first run until this many run concurrently.
	// Otherwise few jobs would overlap on a slow machine.
	Crowd int

	// Disturb is called at the interval Every while jobs are left.
	Disturb Disturbance
	Every   time.Duration

	// Patience is the tolerance for recovery, in addition to two leases.
	Patience time.Duration
	Logf     func(format string, args ...any)
}

// GiveUp is how long a run continues without progress. The total duration depends on the
// machine, and is not judged.
const GiveUp = patience.Limit

// A Disturbance is an action on a cluster.
type Disturbance func(ctx context.Context, c *Cluster) error

// A Cluster is a running scenario. It belongs to one goroutine.
type Cluster struct {
	Scenario
	store     driver.Store
	client    *fairlead.Client
	schedules *schedule.Client
	batches   *batch.Client
	recorder  *Recorder
	random    *rand.Rand
	workers   []*process
	lives     int // number of started processes
	pauses    []pause
	expected  map[int64]Ending
	due       map[int64]Instant // jobs that were not due immediately
	tenants   map[int64]string  // by job
	span      Span              // period in which schedules are due
	endings   map[int64]Ending  // ends of the runs of a schedule, by its ID
	batching  batching
	sweeping  *sweepDriver // nil = no sweep
	callers   []*process
	samples   []Sample
	within    time.Duration // timeout for a query of the database
	unseen    error         // error of the last query
	progress  progress
	gathered  bool  // whether the crowd was complete
	spared    int64 // number of ended jobs when KillOrPause last acted
	killed    bool  // whether that action was a kill
	second    bool  // whether the next action is the second of a pair
}

// pause is a worker suspended until a time.
type pause struct {
	worker *process
	until  time.Time
}

// Run runs a scenario and returns its record. An error means that the scenario could not
// run to its end, not that a rule was violated.
func Run(ctx context.Context, s Scenario) (_ Record, err error) {
	older, err := s.startOlder(ctx)
	if err != nil {
		return Record{}, err
	}
	store, err := s.Open(ctx, s.URL)
	if err != nil {
		return Record{}, fmt.Errorf("open the store: %w", errors.Join(err, killAll(older)))
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	recorder, err := NewRecorder(s.Dir, "driver")
	if err != nil {
		return Record{}, errors.Join(err, killAll(older))
	}
	c := &Cluster{
		Scenario: s, store: store, client: fairlead.NewClient(store), schedules: schedule.NewClient(store), batches: batch.NewClient(store), recorder: recorder,
		workers: older,
		random:  rand.New(rand.NewPCG(s.Seed, s.Seed)), expected: map[int64]Ending{}, due: map[int64]Instant{}, tenants: map[int64]string{}, endings: map[int64]Ending{},
	}
	err = c.play(ctx)
	err = errors.Join(err, killAll(c.callers), c.shutDown(), recorder.Close())
	if err != nil {
		return Record{}, err
	}
	return c.record(ctx)
}

func (c *Cluster) play(ctx context.Context) error {
	if err := errors.Join(c.schedule(ctx), c.scheduleHeld(ctx)); err != nil { // before a node acts on them
		return err
	}
	for range c.Workers {
		if err := c.launch(); err != nil {
			return err
		}
	}
	if err := c.declare(ctx); err != nil {
		return err
	}
	if err := c.enqueue(ctx); err != nil {
		return err
	}
	if err := c.beginOthers(ctx); err != nil {
		return err
	}
	// Queries load the database and show nothing new if repeated immediately, but suspended
	// workers must be resumed in time.
	const tick, look = 20 * time.Millisecond, 200 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	begin := time.Now()
	c.within, c.progress.since = c.Node.Lease, begin
	looked, disturb := begin, begin.Add(c.Every)
	for left := int64(1); left > 0; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		now := time.Now()
		if now.Sub(c.progress.since) > GiveUp {
			c.Logf("nothing has progressed for %v, and jobs are left; the last look at the database: %v", GiveUp, c.unseen)
			return nil
		}
		if err := c.resumeDue(now); err != nil {
			return err
		}
		if now.Sub(looked) >= look {
			left, looked = c.look(ctx, left), time.Now()
		}
		if now.After(disturb) && left > 0 {
			disturb = now.Add(c.Every)
			if err := c.Disturb(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// launch starts another worker.
func (c *Cluster) launch() error {
	c.lives++
	p, err := startProcess("", c.orders(fmt.Sprintf("w%d", c.lives)))
	if err != nil {
		return err
	}
	c.workers = append(c.workers, p)
	return nil
}

// orders returns the orders of a worker.
func (s *Scenario) orders(name string) orders {
	return orders{URL: s.URL, Name: name, Dir: s.Dir, Node: s.Node, Items: s.Sweep.Items > 0, Files: s.Batches.Count > 0, Holds: s.lends()}
}

func (c *Cluster) enqueue(ctx context.Context) error {
	const batch = 1000
	tenants := c.Caps.names()
	now, err := c.store.Now(ctx)
	if err != nil {
		return err
	}
	for left := c.Jobs; left > 0; {
		jobs := make([]*fairlead.Job, min(left, batch))
		plans := make([]Plan, len(jobs))
		for i := range jobs {
			plans[i] = c.Plan(c.random, c.Node.Lease)
			plans[i].Crowd = c.Crowd > 0
			jobs[i] = work.Job(plans[i])
			if plans[i].Delay > 0 {
				jobs[i].NotBefore = now.Add(plans[i].Delay)
			}
			if len(tenants) > 0 {
				jobs[i].Tenant = tenants[i%len(tenants)]
				if c.Caps.PerKey > 0 {
					jobs[i].ConcurrencyKey = "gate"
				}
			}
		}
		if err := c.client.Enqueue(ctx, jobs...); err != nil {
			return fmt.Errorf("enqueue: %w", err)
		}
		for i, job := range jobs {
			c.expected[job.ID], c.tenants[job.ID] = plans[i].end(), job.Tenant
			if !job.NotBefore.IsZero() {
				c.due[job.ID] = InstantOf(job.NotBefore)
			}
		}
		left -= len(jobs)
	}
	return nil
}

// look takes a sample and returns the number of jobs left, or the last known number if the
// database does not respond. If the query took too long, the next one gets twice the time,
// because suspended workers wait for its end.
func (c *Cluster) look(ctx context.Context, left int64) int64 {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	sample, live, more, err := c.glance(ctx)
	if c.unseen = err; err != nil {
		if ctx.Err() != nil {
			c.within = min(2*c.within, time.Minute)
		}
		return left
	}
	c.samples = append(c.samples, sample)
	c.progress.note(sample, live, c.span)
	if err := c.gather(); err != nil {
		c.unseen = err
	}
	if more {
		live++
	}
	return live
}

// glance returns the state of the database, the number of jobs left, and whether schedules
// will create more.
func (c *Cluster) glance(ctx context.Context) (sample Sample, live int64, more bool, err error) {
	more, err = c.planned(ctx) // before counting jobs, because the last one may just be created
	if err != nil {
		return Sample{}, 0, false, err
	}
	over, progressed, err := c.lookAtOthers(ctx)
	if err != nil {
		return Sample{}, 0, false, err
	}
	if progressed {
		c.progress.since = time.Now()
	}
	more = more || !over
	sample, live, err = c.sample(ctx)
	return sample, live, more, err
}

// busy reports whether jobs were running in the last sample.
func (c *Cluster) busy() bool {
	return len(c.samples) > 0 && len(c.samples[len(c.samples)-1].Running) > 0
}

func (c *Cluster) sample(ctx context.Context) (Sample, int64, error) {
	now, err := c.store.Now(ctx)
	if err != nil {
		return Sample{}, 0, err
	}
	s := Sample{DB: InstantOf(now), Running: map[int64]int64{}}
	tally, err := c.store.Tally(ctx, c.own())
	if err != nil {
		return Sample{}, 0, err
	}
	var live int64
	for state, n := range tally {
		s.Jobs += n
		if !state.Final() {
			live += n
		}
	}
	const many = 10_000
	shown := c.own()
	shown.States, shown.Limit = []fairlead.State{fairlead.Running}, many
	running, err := c.store.Find(ctx, shown)
	if err != nil {
		return Sample{}, 0, err
	}
	for _, job := range running {
		s.Running[job.ID] = job.Fence
	}
	nodes, err := c.store.Nodes(ctx)
	if err != nil {
		return Sample{}, 0, err
	}
	for _, node := range nodes {
		if !node.Dead && node.Until.After(now) {
			s.Idle += node.Idle
		}
	}
	return s, live, nil
}

// record collects the record after all workers are gone.
func (c *Cluster) record(ctx context.Context) (Record, error) {
	r := Record{
		Lease: c.Node.Lease, Beat: c.Node.Beat, Pause: retryPause, Patience: c.Patience, Crashes: c.Node.maxCrashes(),
		Expected: c.expected, Due: c.due, Caps: c.Caps, Tenants: c.tenants, Samples: c.samples, Older: c.Older.names(), Hold: c.Callers.Hold,
	}
	const page = 5000
	filter := fairlead.Filter{Limit: page}
	for {
		jobs, err := c.store.Find(ctx, filter)
		if err != nil {
			return Record{}, fmt.Errorf("read how jobs ended: %w", err)
		}
		for _, job := range jobs {
			r.Final = append(r.Final, Final{
				Job: job.ID, Ending: Ending{job.State, job.Reason}, Fence: job.Fence, Attempt: job.Attempt, Failures: job.Failures,
				Progress: reportedUnder(job.Progress), Finished: InstantOf(job.FinishedAt), Other: job.Kind != work.Name(),
			})
		}
		if len(jobs) < page {
			break
		}
		filter.Below = jobs[len(jobs)-1].ID
	}
	if err := c.recordFires(ctx, &r); err != nil {
		return Record{}, err
	}
	if err := c.recordOthers(ctx, &r); err != nil {
		return Record{}, err
	}
	var err error
	r.Events, err = ReadHistory(c.Dir)
	return r, err
}
