package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// workerEnv is the environment variable with the orders of a worker process.
const workerEnv = "FAIRLEAD_SIM_WORKER"

// An Opener opens a store by URL.
type Opener func(ctx context.Context, url string) (driver.Store, error)

// orders is the configuration that a driver passes to a worker.
type orders struct {
	URL  string
	Name string // unique name of the process
	Dir  string // directory for its history
	Node Node

	Items bool // whether it also handles items of sweeps, and records them
	Files bool // whether it also runs tasks of batches, which write files

	Holds  bool          // whether it also runs the jobs of callers
	Caller bool          // whether it is a caller process instead of a node
	Hold   time.Duration // maximum duration of its transactions

	Serve  string // address at which it serves remote workers; empty = none
	Server string // URL of its server if it is a remote worker; empty = it is a node
}

// Node configures the nodes of a scenario.
type Node struct {
	Slots int
	Poll  time.Duration
	Beat  time.Duration
	Lease time.Duration
	Grace time.Duration

	MaxCrashes int // zero = the engine's default
}

// maxCrashes returns the number of node deaths that makes a job poison.
func (n Node) maxCrashes() int {
	const byDefault = 20
	return cmp.Or(n.MaxCrashes, byDefault)
}

// WorkerMain runs the whole program if this process was started as a worker, and otherwise
// returns immediately. Call it first in main or TestMain.
func WorkerMain(open Opener) {
	text, worker := os.LookupEnv(workerEnv)
	if !worker {
		return
	}
	var o orders
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.work(open)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work runs a node until the process is told to end, or its driver is gone.
func (o orders) work(open Opener) (err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	go func() {
		// The driver holds the other end of this pipe and writes nothing.
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, "worker: the driver is gone")
		os.Exit(2)
	}()
	if o.Server != "" {
		return o.workRemotely(ctx)
	}
	recorder, err := NewRecorder(o.Dir, o.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, recorder.Close()) }()
	store, err := open(ctx, o.URL)
	if err != nil && ctx.Err() != nil {
		return nil // told to end before it had begun
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var lend *lender
	if o.Holds {
		if lend, err = newLender(store, o.URL, recorder); err != nil {
			return err
		}
	}
	if o.Caller {
		lend.enqueueForever(ctx, o.Hold)
		return nil
	}
	var stubborn, abandoned atomic.Int64
	mux := muxOf(recorder, &stubborn)
	if lend != nil {
		lend.handle(mux)
	}
	if o.Files {
		handleFiles(mux)
	}
	if o.Items {
		notes, err := newItemNotes(o.Dir, o.Name)
		if err != nil {
			return err
		}
		defer notes.file.Close()
		notes.handle(mux, store)
	}
	node, err := engine.New(&recorded{Store: store, to: recorder}, mux, engine.Options{
		Name:     o.Name,
		Slots:    o.Node.Slots,
		Poll:     o.Node.Poll,
		Beat:     o.Node.Beat,
		Lease:    o.Node.Lease,
		Grace:    o.Node.Grace,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Observer: observer{to: recorder, abandoned: &abandoned},

		MaxCrashes: o.Node.MaxCrashes,
	})
	if err != nil {
		return err
	}
	if o.Serve == "" {
		err = node.Run(ctx)
	} else {
		err = o.runAndServe(ctx, store, node)
	}
	if left := stubborn.Load() + abandoned.Load(); err != nil && left > 0 && ctx.Err() != nil {
		// The engine correctly reports handlers that do not end within the grace period: stubborn
		// ones, and any handler on a machine that gives it no CPU time.
		fmt.Fprintf(os.Stderr, "worker: ended with %d handlers left: %v\n", left, err)
		return nil
	}
	return err
}

// retryPause is the delay between a failed run of a job and the next.
const retryPause = 20 * time.Millisecond

// muxOf returns a mux that handles jobs according to their plan and records the start and
// end of each run. It counts the running handlers that ignore the end of their context.
func muxOf(recorder *Recorder, stubborn *atomic.Int64) *fairlead.Mux {
	mux := fairlead.NewMux()
	options := fairlead.HandlerOptions{Retry: fairlead.Fixed(retryPause)}
	work.HandleWith(mux, options, func(ctx context.Context, job *fairlead.Job, plan Plan) error {
		e := Event{What: Started, Node: job.Node, Job: job.ID, Fence: job.Fence, Attempt: job.Attempt}
		recorder.Note(e)
		if plan.Stubborn {
			stubborn.Add(1)
			defer stubborn.Add(-1)
		}
		var err error
		e.What = Ended
		e.Result, err = plan.perform(ctx, job)
		recorder.Note(e)
		return err
	})
	return mux
}

// observer records events that only the engine knows.
type observer struct {
	engine.NoObserver
	to        *Recorder
	abandoned *atomic.Int64
}

// Abandoned records a handler that ignored the end of its context.
func (o observer) Abandoned(job *fairlead.Job) {
	o.abandoned.Add(1)
	o.to.Note(Event{What: Abandoned, Node: job.Node, Job: job.ID, Fence: job.Fence, Attempt: job.Attempt})
}
