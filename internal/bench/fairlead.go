package bench

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// Kinds of jobs. Served nodes handle the first; only the benchmark itself handles the
// second, so that other nodes on the same database leave its jobs alone.
const (
	KindNoop = "noop"
	KindOwn  = "bench"
)

// Engine settings under load. Latency is measured with the engine's defaults.
const (
	LoadSlots      = 2000
	LoadClaimBatch = 1000
)

// OwnQueue returns the name of a queue that no other run uses.
func OwnQueue() string { return "bench-" + randomText(8) }

// Fairlead is a Scheduler based on this project.
type Fairlead struct {
	Store driver.Store
	Kind  string
	Queue string

	// Slots, ClaimBatch and HoldRetention configure the engine; zero means the engine's
	// default.
	Slots         int
	ClaimBatch    int
	HoldRetention time.Duration
}

// UnderLoad sets unset options to values for workloads with many jobs.
func (f *Fairlead) UnderLoad() {
	f.Slots, f.ClaimBatch = orElse(f.Slots, LoadSlots), orElse(f.ClaimBatch, LoadClaimBatch)
}

// Enqueue stores all jobs in one call.
func (f *Fairlead) Enqueue(ctx context.Context, batch []Args) error {
	kind := fairlead.NewKind[Args](f.Kind)
	jobs := make([]*fairlead.Job, len(batch))
	for i, args := range batch {
		jobs[i] = kind.Job(args)
		jobs[i].Queue = f.Queue
	}
	return fairlead.NewClient(f.Store).Enqueue(ctx, jobs...)
}

// Work runs a node that serves the queue.
func (f *Fairlead) Work(ctx context.Context, events Events) error {
	mux := fairlead.NewMux()
	fairlead.NewKind[Args](f.Kind).Handle(mux, func(_ context.Context, _ *fairlead.Job, args Args) error {
		events.Started(args.Waited())
		return nil
	})
	return engine.Run(ctx, f.Store, mux, engine.Options{
		Name:          "bench",
		Slots:         f.Slots,
		ClaimBatch:    f.ClaimBatch,
		Queues:        []engine.Queue{{Name: f.Queue}},
		Retention:     keepAll(),
		HoldRetention: f.HoldRetention,
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Observer:      &endings{ended: events.Ended},
	})
}

// keepAll returns a retention with which this node never deletes data that other nodes
// would retain, because the database may be in use.
func keepAll() driver.Retention {
	const century = 100 * 365 * 24 * time.Hour
	return driver.Retention{Succeeded: century, Failed: century, Cancelled: century, Skipped: century}
}

// endings counts the jobs whose success the store has acknowledged.
type endings struct {
	engine.NoObserver
	ended func()
}

// Ended implements engine.Observer.
func (e *endings) Ended(_ *fairlead.Job, settlement fairlead.Settlement, settled fairlead.Settled, _ time.Duration) {
	if settlement.Move == fairlead.Succeed && settled == fairlead.SettledAsAsked {
		e.ended()
	}
}
