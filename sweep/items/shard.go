package items

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/internal/pace"
	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/sweeping"
	"github.com/fairlead-io/fairlead/sweep"
)

// handler runs the shards of sweeps of a kind.
type handler struct {
	library Library
	options Options
	prepare prepare
}

// Work runs one shard, from what is stored of it to its end, or until it is ordered to
// stop.
func (h *handler) Work(ctx context.Context, job *fairlead.Job) error {
	r, err := h.load(ctx, job)
	if err != nil {
		return err
	}
	if r.shard.Ended {
		return nil
	}
	err = r.run(ctx)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return r.stopSweep(ctx, refused.err)
	case errors.Is(err, errOrdered):
		return nil
	}
	return err
}

// load finds the shard of a job.
func (h *handler) load(ctx context.Context, job *fairlead.Job) (*Run, error) {
	begun := time.Now()
	book, err := h.library(ctx, job)
	if err != nil {
		return nil, err
	}
	sweep, shard, err := book.Load(ctx)
	if err != nil {
		return nil, err
	}
	return &Run{Sweep: &sweep, Job: job, handler: h, book: book, shard: shard, begun: begun, leased: fairlead.LeasedUntil(ctx)}, nil
}

// refusal is an error that will not pass: the sweep stops.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }

// errOrdered says that the sweep is to stop.
var errOrdered = errors.New("the sweep is stopping")

// errLeaving says that the node goes: another one is to go on.
var errLeaving = fairlead.Release()

// run makes everything ready and then goes over the items.
func (r *Run) run(ctx context.Context) error {
	r.confide = func(args json.RawMessage) { mask.AddArgs(ctx, args) }
	r.confide(r.Sweep.Data)
	handling, err := r.handler.prepare(r, r.Sweep.Data)
	if err != nil {
		return &refusal{err}
	}
	r.data = r.Sweep.Data
	r.handling.Store(&handling)
	leaving := fairlead.Leaving(ctx)
	if _, err := r.report(ctx); err != nil { // from here on its shares are those of this run
		return err
	}
	if r.Job.Attempt > 1 || r.Job.Crashes > 0 {
		if err := r.book.Resume(ctx); err != nil {
			return err
		}
	}
	items, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer items.Close()
	orders, err := r.awaitShare(ctx, leaving)
	if err != nil {
		return err
	}
	return r.sweep(ctx, items, orders, leaving)
}

// How often a run that has no share yet asks for it.
const (
	firstAsk   = 50 * time.Millisecond
	slowestAsk = 250 * time.Millisecond
)

// awaitShare waits until the run may begin something.
func (r *Run) awaitShare(ctx context.Context, leaving <-chan struct{}) (sweep.Orders, error) {
	for pause := firstAsk; ; pause = min(pause*5/4, slowestAsk) {
		if err := r.book.Steer(ctx); err != nil {
			return sweep.Orders{}, err
		}
		orders, err := r.report(ctx)
		if err != nil || orders.Share.InFlight > 0 {
			return orders, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-leaving:
			timer.Stop()
			return orders, errLeaving
		case <-ctx.Done():
			timer.Stop()
			return orders, ctx.Err()
		}
	}
}

// sweep goes over the items.
func (r *Run) sweep(ctx context.Context, items source.Source, orders sweep.Orders, leaving <-chan struct{}) error {
	shard, err := r.describe(items, orders)
	if err != nil {
		return &refusal{err}
	}
	runner, err := sweeping.New(shard)
	if err != nil {
		return &refusal{err}
	}
	r.runner = runner
	ended, watched := make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-leaving:
			runner.Stop() // what is in flight comes to its end
			watched <- true
		case <-ended:
			watched <- false
		}
	}()
	ending, err := runner.Run(ctx)
	close(ended)
	left := <-watched
	switch {
	case err != nil:
		return err
	case ending.End == sweeping.Finished:
		return nil
	case ending.End == sweeping.Lost:
		return fairlead.ErrLeaseLost
	case ending.Err != nil:
		return ending.Err
	case ending.End == sweeping.Stopped && ending.Reason != "":
		return &refusal{errors.New(ending.Reason)}
	case r.ordered.Load():
		return errOrdered
	case left || r.anew.Load():
		return fairlead.Release()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("shard %d of sweep %d ended unexpectedly with state %v", r.shard.Number, r.Sweep.ID, ending)
}

// describe says how the shard is run.
func (r *Run) describe(items source.Source, orders sweep.Orders) (sweeping.Shard, error) {
	s := r.Sweep
	resume, err := r.resume()
	if err != nil {
		return sweeping.Shard{}, err
	}
	shard := sweeping.Shard{
		Source: items, From: r.shard.From, To: r.shard.To, Save: r.save, Every: every, Again: r.again, Record: r.record, Lease: r.leased, Fresh: r.fresh,
		InFlight: orders.Share.InFlight, Rate: orders.Share.Rate, Owed: r.owed(orders.Share.Rate), Window: s.Window, Serial: s.Serial,
		Attempts: s.Attempts, Backoff: func(int) time.Duration { return s.Backoff },
		Budget: orders.Left, StopOnExhausted: s.OnExhausted == sweep.ExhaustedStop, Resume: resume,
	}
	r.mayAbandon.Store(orders.Left)
	if r.handling.Load().one != nil {
		shard.Handle = r.one
	} else {
		shard.HandleBatch, shard.Batch, shard.Loop = r.many, s.PerCall, r.httpLoop
	}
	if s.Adaptive {
		shard.Adaptive = &pace.GovernorOptions{}
	}
	return shard, nil
}

// stopSweep stops the whole sweep for a reason of this shard.
func (r *Run) stopSweep(ctx context.Context, reason error) error {
	return r.book.Stop(context.WithoutCancel(ctx), short(reason.Error()))
}
