package faulty_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sim/faulty"
	"github.com/fairlead-io/fairlead/sqlite"
)

// The times of all nodes in these tests. They are virtual.
const (
	lease = 10 * time.Second
	beat  = 2 * time.Second
	poll  = time.Second
	grace = time.Second

	// atOnce is so short that no interval of a node is over within it.
	atOnce = 20 * time.Millisecond
)

// bubble is a database with nodes in virtual time.
type bubble struct {
	t       *testing.T
	store   *sqlite.Store
	client  *fairlead.Client
	batches *batch.Client
	nodes   []*node
}

// inBubble runs a test in virtual time. Afterwards all nodes end without an
// error and leave no goroutine behind.
func inBubble(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.OpenWith(t.Context(), "sqlite://:memory:", sqlite.Options{Poll: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}()
		before := goleak.IgnoreCurrent()
		b := &bubble{t: t, store: store, client: fairlead.NewClient(store), batches: batch.NewClient(store)}
		defer func() {
			for _, n := range b.nodes {
				n.faults.Mend()
				n.stop()
			}
			if err := goleak.Find(before); err != nil {
				t.Errorf("a node left something behind: %v", err)
			}
		}()
		test(t, b)
	})
}

// job is the kind of all jobs here. Its args say which one it is.
var job = fairlead.NewKind[int]("job")

// node is an engine on a store that can be made to fail.
type node struct {
	b      *bubble
	engine *engine.Engine
	faults *faulty.Store
	news   *news
	end    context.CancelFunc
	ended  chan error
	once   sync.Once
}

// prepare makes a node that does not run yet, so that faults can be set up.
func (b *bubble) prepare(name string, work func(ctx context.Context, job *fairlead.Job) error) *node {
	b.t.Helper()
	mux, did := fairlead.NewMux(), &news{}
	job.HandleWith(mux, fairlead.HandlerOptions{Retry: fairlead.Fixed(poll)}, func(ctx context.Context, j *fairlead.Job, _ int) error {
		did.started(j)
		return work(ctx, j)
	})
	return b.prepareWith(name, mux, did)
}

// prepareWith does the same as prepare, for a node with its own handlers.
func (b *bubble) prepareWith(name string, mux *fairlead.Mux, did *news) *node {
	b.t.Helper()
	n := &node{b: b, faults: faulty.New(b.store), news: did, ended: make(chan error, 1)}
	var err error
	n.engine, err = engine.New(n.faults, mux, engine.Options{
		Name: name, Slots: 4, Poll: poll, Beat: beat, Lease: lease, Grace: grace, Observer: n.news,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.nodes = append(b.nodes, n)
	return n
}

// start runs a node.
func (b *bubble) start(name string, work func(ctx context.Context, job *fairlead.Job) error) *node {
	b.t.Helper()
	n := b.prepare(name, work)
	n.run()
	return n
}

func (n *node) run() {
	ctx, cancel := context.WithCancel(n.b.t.Context())
	n.end = cancel
	go func() { n.ended <- n.engine.Run(ctx) }()
}

// stop ends the node and requires that it ends well.
func (n *node) stop() {
	n.b.t.Helper()
	n.once.Do(func() {
		n.end()
		const forever = time.Hour
		select {
		case err := <-n.ended:
			if err != nil {
				n.b.t.Errorf("the node ended with: %v", err)
			}
		case <-time.After(forever):
			n.b.t.Fatalf("the node did not end within %v", forever)
		}
		n.faults.Wait()
	})
}

// id returns the node's ID, which changes when the node starts over.
func (n *node) id() fairlead.NodeID { return n.engine.Stats().Node }

// enqueue puts jobs into the database.
func (b *bubble) enqueue(count int) []*fairlead.Job {
	b.t.Helper()
	jobs := make([]*fairlead.Job, count)
	for i := range jobs {
		jobs[i] = job.Job(i)
	}
	if err := b.client.Enqueue(b.t.Context(), jobs...); err != nil {
		b.t.Fatal(err)
	}
	return jobs
}

// finish waits until all jobs have ended and returns them as they are then.
func (b *bubble) finish(within time.Duration, jobs ...*fairlead.Job) []*fairlead.Job {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), within)
	defer cancel()
	ended := make([]*fairlead.Job, len(jobs))
	for i, j := range jobs {
		var err error
		if ended[i], err = b.client.Wait(ctx, j.ID); err != nil {
			b.t.Fatalf("job %d has not ended within %v: %v; it is %v", j.ID, within, err, ended[i])
		}
	}
	return ended
}

// succeed does the same as finish for jobs that must succeed at the first attempt, without
// a failure or crash.
func (b *bubble) succeed(within time.Duration, jobs ...*fairlead.Job) {
	b.t.Helper()
	for _, j := range b.finish(within, jobs...) {
		if j.State != fairlead.Succeeded || j.Attempt != 1 || j.Failures != 0 || j.Crashes != 0 {
			b.t.Errorf("job %d %s in attempt %d after %d failures and %d crashes", j.ID, j.State, j.Attempt, j.Failures, j.Crashes)
		}
	}
}

// until returns the end of a node's lease, according to the database.
func (b *bubble) until(id fairlead.NodeID) time.Time {
	b.t.Helper()
	nodes, err := b.client.Nodes(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	i := slices.IndexFunc(nodes, func(n fairlead.Node) bool { return n.ID == id })
	if i < 0 {
		b.t.Fatalf("there is no node %d", id)
	}
	return nodes[i].Until
}

// pass lets virtual time go by.
func (b *bubble) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// await lets virtual time go by until something is the case.
func (b *bubble) await(what string, within time.Duration, is func() bool) {
	b.t.Helper()
	for begin := time.Now(); !is(); b.pass(10 * time.Millisecond) {
		if time.Since(begin) > within {
			b.t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// news is what a node did.
type news struct {
	engine.NoObserver
	mu        sync.Mutex
	starts    []int64 // their jobs
	settled   map[fairlead.Settled]int
	reaps     []time.Time
	abandoned int
}

func (n *news) started(job *fairlead.Job) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.starts = append(n.starts, job.ID)
}

// runs returns the number of handler starts, of one job, or of all jobs if it is nil.
func (n *node) runs(of *fairlead.Job) int {
	n.news.mu.Lock()
	defer n.news.mu.Unlock()
	count := 0
	for _, id := range n.news.starts {
		if of == nil || id == of.ID {
			count++
		}
	}
	return count
}

// answers returns the number of settlements with the given result.
func (n *node) answers(with fairlead.Settled) int {
	n.news.mu.Lock()
	defer n.news.mu.Unlock()
	return n.news.settled[with]
}

// Ended counts settlements by result.
func (n *news) Ended(_ *fairlead.Job, _ fairlead.Settlement, settled fairlead.Settled, _ time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.settled == nil {
		n.settled = map[fairlead.Settled]int{}
	}
	n.settled[settled]++
}

// Reaped notes when jobs or nodes were taken from the dead.
func (n *news) Reaped(driver.Reaped) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reaps = append(n.reaps, time.Now())
}

// Abandoned counts handlers that were given up.
func (n *news) Abandoned(*fairlead.Job) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.abandoned++
}

// hangAll makes a store answer nothing. Claims and Held fail at once: they wait
// for each other on a mutex, and virtual time stands still while a goroutine
// waits for a mutex.
func hangAll(s *faulty.Store) {
	s.Hang(faulty.Always, faulty.Calls()...)
	s.Fail(faulty.Always, faulty.Claim, faulty.Held)
}

// succeedAtOnce handles a job by succeeding immediately.
func succeedAtOnce(context.Context, *fairlead.Job) error { return nil }
