package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// The times of all nodes.
const (
	seededLease = 8 * time.Second
	seededBeat  = 2 * time.Second
	seededPoll  = time.Second
	seededGrace = time.Second

	activeFor  = 30 * time.Second // how long there are faults, and callers
	drainedFor = 5 * time.Minute  // how long everything may take to end afterwards
)

// A world is a database with nodes and callers, in virtual time. One goroutine, that of the
// test, makes all calls of the database and decides about all faults.
type world struct {
	t         testing.TB
	seed      uint64
	random    *rand.Rand // of the director
	store     *sqlite.Store
	gate      *gate
	trace     *trace
	counts    counts
	nodes     []*simNode
	callers   []*caller
	responder *passing       // answers for waiting jobs
	working   sync.WaitGroup // goroutines of callers
	ends      time.Time      // end of the active period
	made      int            // processes

	mu         sync.Mutex
	events     []Event
	last       Instant
	successes  map[int64]map[int64]bool // fences under which a job was accepted as succeeded, by job
	violations []string
	targets    map[string]target // of batches
	handled    map[int64]map[int64]bool

	paused map[fairlead.Pause]bool // only the goroutine of the test uses it
	book   book
}

// target holds the values that tasks of batches change. It refuses fences that are smaller than the
// largest one it has seen, as docs/guarantees.md recommends.
type target struct {
	value string
	fence int64
}

// simNode is a node. A node that crashes is replaced by another one.
type simNode struct {
	*peer
	ctx    context.Context // ends when its process crashes
	kill   context.CancelFunc
	stop   context.CancelFunc
	ended  chan error
	gone   bool
	engine *engine.Engine
}

func newWorld(t testing.TB, seed uint64) *world {
	store, err := sqlite.OpenWith(t.Context(), ":memory:", sqlite.Options{Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 2)), store: store, trace: newTrace(), counts: newCounts(),
		successes: map[int64]map[int64]bool{}, targets: map[string]target{}, handled: map[int64]map[int64]bool{},
		paused: map[fairlead.Pause]bool{}, ends: time.Now().Add(activeFor),
	}
	w.gate = newGate(seed, w.trace, w.counts)
	w.book = newBook()
	return w
}

// process returns a new process.
func (w *world) peer(name string) *peer {
	w.made++
	return &peer{name: fmt.Sprintf("%s%d", name, w.made), order: w.made}
}

// join starts a node.
func (w *world) join() {
	p := w.peer("n")
	if w.random.IntN(3) > 0 {
		const most = 3 * time.Hour
		p.skew = time.Duration(w.random.Int64N(int64(2*most))) - most
	}
	base, kill := context.WithCancel(context.Background())
	running, stop := context.WithCancel(base)
	n := &simNode{peer: p, ctx: base, kill: kill, stop: stop, ended: make(chan error, 1)}
	store, mux, seeds := &passing{Store: w.store, w: w, p: p}, fairlead.NewMux(), map[string]uint64{}
	w.handle(mux, n, store)
	var mu sync.Mutex
	var err error
	n.engine, err = engine.New(store, mux, engine.Options{
		Name: p.name, Slots: 5, Poll: seededPoll, Beat: seededBeat, Lease: seededLease, Grace: seededGrace, DrainTimeout: 5 * time.Second,
		StuckLimit: 20 * time.Second, MaxCrashes: 6, Logger: slog.New(slog.DiscardHandler), Observer: observed{w: w},
		Base: func() context.Context { return base },
		Random: func(loop string) *rand.Rand {
			mu.Lock()
			defer mu.Unlock()
			seeds[loop]++
			return drawFor(w.seed, uint64(p.order), seeds[loop], hashOf(loop))
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.nodes = append(w.nodes, n)
	go func() { n.ended <- n.engine.Run(running) }()
}

func hashOf(text string) (sum uint64) {
	for _, c := range text {
		sum = sum*31 + uint64(c)
	}
	return sum
}

// handle registers the handlers of a node.
func (w *world) handle(mux *fairlead.Mux, n *simNode, store *passing) {
	options := fairlead.HandlerOptions{Retry: fairlead.Fixed(700 * time.Millisecond), MaxAttempts: 4, Timeout: 4 * time.Second}
	for _, kind := range kinds {
		kind.HandleWith(mux, options, func(ctx context.Context, job *fairlead.Job, args errand) error {
			return w.run(ctx, n, store, job, args)
		})
	}
	batch.Handle(mux, w.operation(n))
	bulk.Register(mux, store)
	items.Handle(mux, store, sweptKind, items.Options{Logger: slog.New(slog.DiscardHandler)}, func(ctx context.Context, item items.Item[json.RawMessage]) error {
		return w.item(ctx, n, item)
	})
}

// note adds an event. Events have different times, in the order in which they happen.
func (w *world) note(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = max(w.last+1, InstantOf(time.Now()))
	e.At = w.last
	w.events = append(w.events, e)
}

// clock returns the time of an event that would happen now.
func (w *world) clock() Instant {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(w.last+1, InstantOf(time.Now()))
}

func (w *world) violated(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// observed counts what only the engine knows.
type observed struct {
	engine.NoObserver
	w *world
}

// Abandoned counts handlers that ignore the end of their context.
func (o observed) Abandoned(*fairlead.Job) { o.w.counts.add(oblivious) }

// play runs the world until everything has ended.
func (w *world) play() {
	for range 3 + w.random.IntN(2) {
		w.join()
	}
	w.begin()
	w.direct()
	w.gate.heal(w.processes())
	w.wait("the callers end", w.callersEnded())
	w.restore()
	w.drain()
	w.undo()
	w.drain()
	w.judge()
	w.close()
}

func (w *world) processes() []*peer {
	var all []*peer
	for _, n := range w.nodes {
		all = append(all, n.peer)
	}
	for _, c := range w.callers {
		all = append(all, c.p)
	}
	return all
}

// direct lets calls pass and faults of nodes happen during the active period.
func (w *world) direct() {
	const every = 2 * time.Second // between two audits
	next, audit := time.Now().Add(w.pause()), time.Now().Add(every)
	for time.Now().Before(w.ends) {
		if !time.Now().Before(audit) {
			synctest.Wait()
			w.audit(context.Background())
			audit = time.Now().Add(every)
		}
		if !time.Now().Before(next) {
			next = time.Now().Add(w.disturb())
		}
		if !w.gate.step() {
			w.gate.idle(earlier(next, w.ends))
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// pause draws the time until the next fault of a node.
func (w *world) pause() time.Duration {
	return time.Second + time.Duration(w.random.Int64N(int64(5*time.Second)))
}

// disturb lets something happen to a node, and returns how long to wait with the next thing.
// There are always some nodes that live.
func (w *world) disturb() time.Duration {
	live := w.live()
	n := live[w.random.IntN(len(live))]
	const fewest, most = 2, 5
	const missed = 5 * seededLease / 2 // an instant is missed if all nodes are two leases late
	if time.Until(w.ends) > missed && w.random.IntN(12) == 0 {
		w.counts.add(allFrozen)
		for _, n := range live {
			w.gate.suspend(n.peer, missed)
		}
		return missed
	}
	what := w.random.IntN(10)
	switch {
	case len(live) <= fewest, what == 0 && len(live) < most:
		w.join()
	case what < 4:
		w.counts.add(crashed)
		w.crash(n)
		w.join()
	case what < 7:
		w.counts.add(suspended)
		w.gate.suspend(n.peer, seededLease+time.Duration(w.random.Int64N(int64(seededLease))))
	case what < 9:
		w.counts.add(badLine)
		w.gate.sicken(n.peer, time.Second+time.Duration(w.random.Int64N(int64(6*time.Second))))
	default:
		w.counts.add(leftEarly)
		n.gone = true
		n.stop()
		w.join()
	}
	return w.pause()
}

func (w *world) live() []*simNode {
	var live []*simNode
	for _, n := range w.nodes {
		if !n.gone {
			live = append(live, n)
		}
	}
	return live
}

// crash lets a node's process disappear with all that it had begun.
func (w *world) crash(n *simNode) {
	n.gone = true
	w.gate.kill(n.peer)
	if tx := w.gate.held(); tx != nil && tx.by == n.peer {
		w.rollBack(tx)
	}
	n.kill()
}

// wait lets calls pass until a channel is closed.
func (w *world) wait(what string, until <-chan struct{}) {
	for begun := time.Now(); ; {
		select {
		case <-until:
			return
		default:
		}
		if time.Since(begun) > drainedFor {
			w.t.Fatalf("not within %v: %s\n%s", drainedFor, what, w.trace.last())
		}
		if !w.gate.step() {
			w.gate.idle(time.Now().Add(50 * time.Millisecond))
		}
	}
}

// quiet lets calls pass until no transaction is open, so that the test itself can use the
// database.
func (w *world) quiet() {
	for synctest.Wait(); w.gate.held() != nil; synctest.Wait() {
		w.pass(50 * time.Millisecond)
	}
}

func (w *world) callersEnded() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		w.working.Wait()
		close(ended)
	}()
	return ended
}

// pass lets virtual time go by while calls pass.
func (w *world) pass(d time.Duration) {
	for until := time.Now().Add(d); time.Now().Before(until); {
		if !w.gate.step() {
			w.gate.idle(until)
		}
	}
}

// drain lets calls pass until there is nothing left to do.
func (w *world) drain() {
	var open string
	for begun := time.Now(); time.Since(begun) < drainedFor; w.pass(3 * time.Second) {
		w.quiet()
		if open = w.open(); open == "" {
			return
		}
	}
	w.violated("not ended within %v: %s", drainedFor, open)
}

// close ends all nodes. None may fail, unless handlers ignore the end of their context.
func (w *world) close() {
	for _, n := range w.nodes {
		n.stop()
	}
	ended := make(chan struct{})
	go func() {
		for _, n := range w.nodes {
			<-n.ended
		}
		close(ended)
	}()
	w.wait("the nodes end", ended)
	for _, n := range w.nodes {
		n.kill()
	}
	w.pass(2 * time.Minute) // handlers that ignore everything
	synctest.Wait()
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

// begin starts the callers.
func (w *world) begin() {
	for range cmp.Or(w.random.IntN(3), 3) + 2 {
		c := &caller{w: w, p: w.peer("c")}
		c.random = drawFor(w.seed, uint64(c.p.order))
		c.connect()
		w.callers = append(w.callers, c)
	}
	w.plan()
	for _, c := range w.callers {
		w.working.Go(c.work)
	}
}
