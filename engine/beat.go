package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/outage"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// keepBeating confirms the node's lease until ctx ends, and reports to lost if
// it cannot: because the store says so, or because no beat was acknowledged in
// time.
func (l *life) keepBeating(ctx context.Context, lost chan<- error) {
	l.engine.outages.Ask(l.beats.poke)
	defer l.engine.outages.Ask(nil)
	quiet := newSilence(time.Now())
	for ctx.Err() == nil {
		pause := l.options.Beat
		if err := l.beat(ctx, quiet); err != nil && ctx.Err() == nil {
			l.steadySince.Store(nil)
			if errors.Is(err, fairlead.ErrLeaseLost) || !l.lease.valid() {
				l.fence() // at once, whatever the rest of the node is waiting for
				l.survived()
				l.options.Observer.LeaseLost()
				lost <- quiet.lost(l.id, l.keeper == nil)
				return
			}
			pause = min(pause, l.options.Beat/4)
		}
		// Wake in time to see the lease end, however long the pause.
		rest := max(time.Millisecond, min(pause, l.lease.left()))
		begin := time.Now()
		l.beats.idle(ctx, rest)
		quiet.stoodStill(time.Since(begin) - rest)
	}
}

// beat sends one sign of life. It does not wait for the answer until the lease
// is over: on another connection the next one may get through.
func (l *life) beat(ctx context.Context, quiet *silence) error {
	limit := max(time.Millisecond, min(l.lease.left(), l.options.Lease/4))
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	beat := driver.Beat{Node: l.id, Lease: l.options.Lease}
	for _, g := range l.groups {
		beat.Idle += max(0, g.slots-int(g.busy.Load()))
		beat.Queued += g.crew.queued()
	}
	sent := time.Now()
	answer, err := l.store.Beat(ctx, beat)
	l.options.Observer.Beaten(time.Since(sent), err)
	if err != nil {
		quiet.stoodStill(time.Since(sent) - limit)
		l.missed(outer, quiet, err)
		return err
	}
	quiet.end(sent)
	l.engine.outages.Worked("node", int64(l.id))
	l.lease.extend(sent)
	l.steadySince.CompareAndSwap(nil, &sent)
	for _, held := range answer.Cancel {
		l.registry.end(held, verdict.ErrCancelled)
	}
	l.heed(answer.Drain)
	return nil
}

// missed says of a beat that failed why it did.
func (l *life) missed(ctx context.Context, quiet *silence, err error) {
	switch {
	case ctx.Err() != nil, errors.Is(err, fairlead.ErrLeaseLost):
	case outage.Passes(err):
		quiet.fails++
		l.engine.outages.Failed(err, "node", int64(l.id), "lease_left", l.lease.left().Round(time.Millisecond))
	default:
		quiet.fails++
		l.log.Warn("heartbeat failed", "error", err, "lease_left", l.lease.left().Round(time.Millisecond))
	}
}

// trusted reports whether the node's own beats have succeeded for a whole
// lease. Until then it declares no other dead, unless mayReap says so: after an
// outage the first one back must not kill the rest.
func (l *life) trusted() bool {
	since := l.steadySince.Load()
	// A process that stood still has missed beats without having seen one fail.
	return since != nil && time.Since(*since) >= l.options.Lease && l.lease.valid()
}
