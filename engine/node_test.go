package engine_test

import (
	"context"
	"log/slog"
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
)

// world is a store and a client inside a bubble of virtual time.
type world struct {
	t         *testing.T
	store     *sqlite.Store
	client    *fairlead.Client
	schedules *schedule.Client
	sweeps    *sweep.Client
	mux       *fairlead.Mux

	engineStore driver.Store // what nodes work on; store if nil
}

// inBubble runs a test in virtual time: hours pass in milliseconds, and the
// bubble ends only when every goroutine has.
func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := sqlitetest.OpenWith(t, sqlite.Options{Poll: -1})
		defer store.Close()
		test(&world{t: t, store: store, client: fairlead.NewClient(store), schedules: schedule.NewClient(store), sweeps: sweep.NewClient(store), mux: fairlead.NewMux()})
	})
}

// handle registers a handler for a kind.
func (w *world) handle(kind string, options fairlead.HandlerOptions, work func(ctx context.Context, job *fairlead.Job) error) {
	w.mux.Handle(kind, options, fairlead.HandlerFunc(work))
}

// start runs a node and returns what stops it and gives its error.
func (w *world) start(options engine.Options) (stop func() error) {
	w.t.Helper()
	_, stop = w.startEngine(options)
	return stop
}

func (w *world) startEngine(options engine.Options) (*engine.Engine, func() error) {
	w.t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	store := w.engineStore
	if store == nil {
		store = w.store
	}
	node, err := engine.New(store, w.mux, options)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	return node, func() error {
		cancel()
		return <-ended
	}
}

// run is start for tests in which nothing goes wrong at the end.
func (w *world) run(options engine.Options, during func()) {
	w.t.Helper()
	stop := w.start(options)
	during()
	if err := stop(); err != nil {
		w.t.Errorf("the node ended with %v", err)
	}
}

func (w *world) enqueue(jobs ...*fairlead.Job) {
	w.t.Helper()
	if err := w.client.Enqueue(w.t.Context(), jobs...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wait(job *fairlead.Job) *fairlead.Job {
	w.t.Helper()
	done, err := w.client.Wait(w.t.Context(), job.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return done
}

func (w *world) get(job *fairlead.Job) *fairlead.Job {
	w.t.Helper()
	got, err := w.client.Get(w.t.Context(), job.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
