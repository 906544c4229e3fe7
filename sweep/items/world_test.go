package items_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// data is what the sweeps of these tests say to their items.
type data struct {
	Word string `json:"word"`
}

// world is a store and a handler inside a bubble of virtual time.
type world struct {
	t         *testing.T
	store     *sqlite.Store
	client    *fairlead.Client
	schedules *schedule.Client
	sweeps    *sweep.Client
	late      atomic.Int64 // how long checkpoints take, in nanoseconds

	mu    sync.Mutex
	tries map[int64]int // of each item
	begun []time.Time
	words map[string]int
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := sqlitetest.OpenWith(t, sqlite.Options{Poll: -1})
		defer store.Close()
		test(&world{t: t, store: store, client: fairlead.NewClient(store), schedules: schedule.NewClient(store), sweeps: sweep.NewClient(store), tries: map[int64]int{}, words: map[string]int{}})
	})
}

// node runs a node whose handler notes each try and then does what is said.
func (w *world) node(handle func(ctx context.Context, item items.Item[data]) error) (stop func()) {
	w.t.Helper()
	return w.nodeOn(w.store, handle)
}

// nodeOn runs such a node on a store.
func (w *world) nodeOn(store driver.Store, handle func(ctx context.Context, item items.Item[data]) error) (stop func()) {
	w.t.Helper()
	mux := fairlead.NewMux()
	items.Handle(mux, lateStore{store, &w.late}, "k", items.Options{Logger: slog.New(slog.DiscardHandler)}, func(ctx context.Context, item items.Item[data]) error {
		w.mu.Lock()
		w.tries[item.Index]++
		w.words[item.Data.Word]++
		w.begun = append(w.begun, time.Now())
		w.mu.Unlock()
		return handle(ctx, item)
	})
	return w.runOn(store, mux)
}

// run runs a node with handlers.
func (w *world) run(mux *fairlead.Mux) (stop func()) {
	w.t.Helper()
	return w.runOn(w.store, mux)
}

func (w *world) runOn(store driver.Store, mux *fairlead.Mux) (stop func()) {
	w.t.Helper()
	mux.Handle(sweep.GateKind, fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(store, mux, engine.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the node ended with %v", err)
		}
	}
}

// lateStore is a store that takes its time for checkpoints.
type lateStore struct {
	driver.Store
	late *atomic.Int64
}

// Checkpoint stores it, and answers late.
func (s lateStore) Checkpoint(ctx context.Context, c sweep.Checkpoint) (sweep.Orders, error) {
	orders, err := s.Store.Checkpoint(ctx, c)
	time.Sleep(time.Duration(s.late.Load()))
	return orders, err
}

// start creates and starts a sweep.
func (w *world) start(s sweep.Sweep) sweep.Sweep {
	w.t.Helper()
	s.Name, s.Kind = "s", "k"
	stored, err := w.sweeps.Put(w.t.Context(), s)
	if err == nil {
		stored, err = w.sweeps.Start(w.t.Context(), stored.ID, "me")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

func (w *world) get(id int64) sweep.Sweep {
	w.t.Helper()
	s, err := w.sweeps.ByID(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// until waits for a state, in virtual time.
func (w *world) until(id int64, state sweep.State) sweep.Sweep {
	w.t.Helper()
	for range 6000 {
		if s := w.get(id); s.State == state {
			return s
		}
		time.Sleep(100 * time.Millisecond)
	}
	s := w.get(id)
	w.t.Fatalf("the sweep is %s (%s), not %s: %+v", s.State, s.Reason, state, s.Progress)
	return s
}

// each fails unless every item was tried so often.
func (w *world) each(from, to int64, times int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := from; i < to; i++ {
		if w.tries[i] != times {
			w.t.Fatalf("item %d was tried %d times, not %d", i, w.tries[i], times)
		}
	}
	if len(w.tries) != int(to-from) {
		w.t.Fatalf("%d items were tried, not %d", len(w.tries), to-from)
	}
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.begun)
}

func done(context.Context, items.Item[data]) error { return nil }
