// Package engine runs a node of the cluster.
//
//	err := engine.Run(ctx, store, mux, engine.Options{Slots: 64}) // runs until ctx ends
//
// A node joins the store, claims ready jobs into its slots, runs their handlers,
// settles the results, beats to keep its lease, and takes part in the housekeeping that
// all nodes share. Each of these is a loop in its own file:
//
//	beat.go       keeps the lease; receives requests to cancel and to drain
//	claim.go      fills the slots of one group of queues
//	drain.go      stops and resumes claiming on an operator's request
//	run.go        runs a handler under its timeout and recovers its panics
//	settle.go     stores the results of runs, many at a time
//	watch.go      gives up on handlers that ignore the end of their context
//	stall.go      detects that the node claims nothing although jobs could start
//	audit.go      finds leases that are unknown to the node, and releases them
//	conduct.go    counts the tasks of batches and releases more
//	steer.go      ends sweeps and shares their rate among their shards
//	silence.go    determines whether the process itself caused a lost lease
//	failures.go   logs failed attempts, a few of each kind
//	survive.go    records that a node that lost its lease did not crash
//	alert.go      reports jobs that failed, started too late or wait too long
//	witness.go    records what keeps jobs waiting
//	keep.go       promotes, reaps, expires and prunes
//	deaths.go     logs nodes that died, and predicts when the next may be dead
//	unattended.go calls OnFailed for jobs that failed while no handler ran
//	unreaped.go   detects jobs of dead nodes that no node has taken back
//
// A node that has lost its lease, or could not confirm it in time, joins again with a new
// ID. Its current runs then no longer count: the contexts of their handlers end, and the
// store rejects late results by their fences.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/outage"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Engine runs a node. Create it with New.
type Engine struct {
	store   Source
	mux     *fairlead.Mux
	options Options
	log     *slog.Logger
	outages *outage.Watch
	secrets *secrets
	paused  atomic.Bool // by its own process
	drained atomic.Bool // by an operator, through the store
	current atomic.Pointer[life]

	unsteady  unsteadiness
	survivals survivals
}

// Run runs a node until ctx ends. The node then stops claiming jobs, lets running handlers
// finish within Options.DrainTimeout, and releases the remaining jobs. Run returns nil once
// all of the node's goroutines have ended. If some handlers do not return after their
// contexts end, Run returns an error that states how many. Run returns ErrInvalid if the
// options are invalid.
func Run(ctx context.Context, store Source, mux *fairlead.Mux, options Options) error {
	e, err := New(store, mux, options)
	if err != nil {
		return err
	}
	return e.Run(ctx)
}

// New validates the options and returns a node that is not running yet. It returns
// ErrInvalid if the options are invalid.
func New(store Source, mux *fairlead.Mux, options Options) (*Engine, error) {
	options = options.withDefaults()
	if err := options.validate(mux); err != nil {
		return nil, err
	}
	e := &Engine{store: store, mux: mux, options: options, secrets: newSecrets(store, mux)}
	e.log, e.outages = outage.Logger(options.Logger)
	if _, keeps := store.(driver.Keeper); !keeps {
		e.outages.Of("service") // a database is behind it
	}
	return e, nil
}

// Run runs the node until ctx ends, like the function Run. Do not call Run again while the
// node is running.
func (e *Engine) Run(ctx context.Context) error {
	for {
		err := e.live(ctx)
		switch {
		case errors.Is(err, fairlead.ErrLeaseLost) && ctx.Err() == nil:
			e.log.Warn("lease lost: starting over as a new node", silenceOf(err)...)
		case errors.Is(err, fairlead.ErrLeaseLost): // while draining: others take its jobs
			e.log.Warn("lease lost while shutting down", silenceOf(err)...)
			return nil
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil
		default:
			return err
		}
	}
}

// live is one life: from joining to having left.
func (e *Engine) live(ctx context.Context) error {
	l, err := e.join(ctx)
	if err != nil {
		return err
	}
	e.current.Store(l)
	defer e.current.Store(nil)
	return l.run(ctx)
}

// join registers the node, trying again while the database is unreachable.
func (e *Engine) join(ctx context.Context) (*life, error) {
	const first, slowest = 100 * time.Millisecond, 5 * time.Second
	for pause := first; ; pause = min(2*pause, slowest) {
		err := e.confide(ctx)
		sent, id := time.Now(), fairlead.NodeID(0)
		if err == nil {
			id, err = e.store.Join(ctx, e.description(), e.options.Lease)
		}
		if err == nil {
			e.outages.Worked("node", int64(id))
			return newLife(e, id, sent), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if outage.Passes(err) {
			e.outages.Failed(err)
		}
		e.log.Warn("cannot join the cluster yet", "error", err, "retry_in", pause)
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// confide says what its handlers declare to be confidential, before the node runs any job. A
// source that is no store hears it in another way.
func (e *Engine) confide(ctx context.Context) error {
	fields := e.mux.Confidential()
	store, keeps := e.store.(fairlead.Confider)
	if !keeps || len(fields) == 0 {
		return nil
	}
	return store.AddConfidential(ctx, fields)
}

func (e *Engine) description() fairlead.Node {
	o := e.options
	node := fairlead.Node{Name: o.Name, Address: o.Address, Version: o.Version, Kinds: e.mux.Kinds(), Slots: o.totalSlots(), Capacity: o.QueueSize, MaxSweeps: o.MaxSweeps}
	node.Draining = e.drained.Load() // it starts over, and was not asked to go on
	for _, q := range o.Queues {
		node.Queues = append(node.Queues, q.Name)
	}
	for _, kind := range node.Kinds {
		// For those who ask how a job runs. What a handler chooses by the job is not known before.
		if entry := e.mux.Entry(kind); entry.Options.TimeoutOf == nil {
			node.Defaults = append(node.Defaults, fairlead.KindDefaults{Kind: kind, Timeout: verdict.Timeout(&fairlead.Job{}, entry, o.Timeout)})
		}
	}
	return node
}

// Pause stops this node from claiming jobs. Jobs that it has already claimed still run.
func (e *Engine) Pause() { e.paused.Store(true) }

// Resume undoes Pause. It does not end a drain that an operator has requested.
func (e *Engine) Resume() {
	e.paused.Store(false)
	if l := e.current.Load(); l != nil {
		l.wakeGroups()
	}
}

// Ended notifies the node of jobs whose runs ended elsewhere, for example on remote workers.
// The node then immediately releases more tasks of their batches and starts queued runs of
// their schedules, rather than waiting for its next poll.
func (e *Engine) Ended(jobs ...*fairlead.Job) {
	if l := e.current.Load(); l != nil {
		l.ended(jobs)
	}
}

// Ready reports whether the node has a confirmed lease and accepts new jobs.
func (e *Engine) Ready() bool {
	l := e.current.Load()
	return l != nil && l.lease.valid() && !l.draining.Load()
}

// Outage returns the time at which the current database outage began, that is, since when
// the node's heartbeats have been failing. The outage continues while the node has no lease
// and tries to join. Outage returns the zero time if heartbeats succeed.
func (e *Engine) Outage() time.Time { return e.outages.Since() }

// Stats describes a node's current activity.
type Stats struct {
	Node     fairlead.NodeID // zero while the node has not joined
	Alive    bool            // whether its lease is confirmed
	Slots    int             // total number of slots
	Busy     int             // slots that run a handler
	Queued   int             // jobs claimed but not started
	Unsaved  int             // runs ended but not yet acknowledged by the store
	Stuck    int             // handlers that ignore the end of their context
	Capacity int             // maximum of Queued
}

// Stats returns the node's current statistics. It does not access the database.
func (e *Engine) Stats() Stats {
	s := Stats{Slots: e.options.totalSlots(), Capacity: e.options.QueueSize}
	l := e.current.Load()
	if l == nil {
		return s
	}
	s.Node, s.Alive = l.id, l.lease.valid()
	s.Stuck = int(l.stuck.Load())
	s.Unsaved = l.unsaved()
	for _, g := range l.groups {
		s.Busy += int(g.busy.Load())
		s.Queued += g.crew.queued()
	}
	return s
}

// stuckError is what Run returns if handlers would not end.
type stuckError int

func (n stuckError) Error() string {
	return fmt.Sprintf("%d handlers ignored the end of their context and are still running", int(n))
}

// sleep waits unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
