package fairleadtest

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
)

// TB is the subset of testing.TB that this package uses.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
}

// Clients contains clients for the test's store.
type Clients struct {
	Client    *fairlead.Client
	Schedules *schedule.Client
	Batches   *batch.Client
	Sweeps    *sweep.Client
	Bulks     *bulk.Client
}

func clientsOf(store driver.Store, mux *fairlead.Mux) Clients {
	return Clients{fairlead.NewClient(store), schedule.NewClient(store), batch.NewClient(store).Knowing(mux), sweep.NewClient(store), bulk.NewClient(store)}
}

// Node is a node for one test. Its methods fail the test on any error.
type Node[S driver.Store] struct {
	Clients
	Store S // store of the node

	t       TB
	clock   Clock
	stepper *engine.Stepper
}

// New returns a node with a new in-memory database. Both are closed when the test ends. The
// node's clock stays at a fixed time until Advance or RunFor moves it.
func New(t TB, mux *fairlead.Mux) *Node[*sqlite.Store] {
	t.Helper()
	store, clock := SQLite(t)
	return NewOn(t, store, clock, mux)
}

// SQLite opens an in-memory store and returns it with its clock. The store is closed
// when the test ends.
func SQLite(t TB) (*sqlite.Store, Clock) {
	t.Helper()
	c := &clock{now: begin}
	store, err := sqlite.OpenWith(t.Context(), ":memory:", sqlite.Options{Clock: c.Now})
	if err != nil {
		t.Fatalf("fairleadtest: open the database: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, c
}

// NewOn returns a node on a store whose clock the test controls. SQLite, pgtest and
// mysqltest create stores of this kind.
func NewOn[S driver.Store](t TB, store S, clock Clock, mux *fairlead.Mux) *Node[S] {
	t.Helper()
	stepper, err := engine.NewStepper(t.Context(), store, mux)
	if err != nil {
		t.Fatalf("fairleadtest: %v", err)
	}
	return &Node[S]{Clients: clientsOf(store, mux), Store: store, t: t, clock: clock, stepper: stepper}
}

// Now returns the current time of the node's clock.
func (n *Node[S]) Now() time.Time { return n.clock.Now() }

// Advance moves the node's clock forward by d. Nothing runs until the test calls Work, Drain
// or RunFor. A schedule that was due in between has then missed those instants.
func (n *Node[S]) Advance(d time.Duration) { n.clock.Advance(d) }

// Work runs the first ready job once and returns it in its new state. It fails the test if
// no job is ready.
func (n *Node[S]) Work() *fairlead.Job {
	n.t.Helper()
	job := n.step()
	if job == nil {
		n.t.Fatal("fairleadtest: no job is ready; it may be scheduled for later, or no handler is registered for its kind")
	}
	return job
}

// tooMany is how many runs are surely not meant.
const tooMany = 100_000

// Drain runs jobs until none is ready, and returns them in the order in which they ran. It
// fails the test if jobs are still ready after 100,000 runs.
func (n *Node[S]) Drain() []*fairlead.Job {
	n.t.Helper()
	var jobs []*fairlead.Job
	for job := n.step(); job != nil; job = n.step() {
		if jobs = append(jobs, job); len(jobs) == tooMany {
			n.t.Fatalf("fairleadtest: after %d runs jobs are still ready", tooMany)
		}
	}
	return jobs
}

// RunFor simulates the passage of d. It runs all ready jobs, moves the clock to the next
// instant at which a job or schedule is due, and repeats until d has passed. It returns the
// jobs in the order in which they ran.
func (n *Node[S]) RunFor(d time.Duration) []*fairlead.Job {
	n.t.Helper()
	jobs, end := n.Drain(), n.Now().Add(d)
	for left := d; left > 0; left = end.Sub(n.Now()) {
		step := n.stepper.Next()
		if step < 0 || step > left {
			step = left
		}
		n.clock.Advance(step)
		if jobs = append(jobs, n.Drain()...); len(jobs) >= tooMany {
			n.t.Fatalf("fairleadtest: after %d runs in %v jobs are still ready", len(jobs), d-left)
		}
	}
	return jobs
}

func (n *Node[S]) step() *fairlead.Job {
	n.t.Helper()
	job, err := n.stepper.Step(n.t.Context())
	if err != nil {
		n.t.Fatalf("fairleadtest: run a job: %v", err)
	}
	return job
}
