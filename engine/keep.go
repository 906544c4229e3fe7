package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/driver"
)

// keepChunk is how many jobs one housekeeping statement moves, so that none
// takes long.
const keepChunk = 1000

// keepPromoting makes scheduled jobs ready when they are due.
func (l *life) keepPromoting(ctx context.Context) {
	l.promoter.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for {
			promotion, err := l.keeper.Promote(ctx, keepChunk)
			if err != nil || promotion.Moved < keepChunk {
				return promotion.Next, err
			}
		}
	})
}

// keepReaping takes jobs back from dead nodes. It looks four times per lease, and when
// the lease of a node ends that has fallen silent, so that its jobs run again then.
func (l *life) keepReaping(ctx context.Context) {
	reaper := newLoop("reap", l.options.Lease/4, l.log)
	reaper.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for l.mayReap() {
			reaped, err := l.keeper.Reap(ctx, driver.Reap{By: l.id, MaxCrashes: l.options.MaxCrashes, Limit: keepChunk, Patience: unsteadyLeases * l.options.Lease})
			if reaped != (driver.Reaped{}) { // which may be before it failed
				l.options.Observer.Reaped(reaped)
				l.log.Warn("took jobs back from dead nodes", "dead_nodes", reaped.Nodes, "jobs", reaped.Jobs, "poisoned", reaped.Poisoned, "cancelled", reaped.Cancelled)
			}
			if err != nil {
				return 0, err
			}
			if reaped.Jobs+reaped.Poisoned+reaped.Cancelled < keepChunk {
				break
			}
		}
		return l.nextDeath(ctx)
	})
}

// nextDeath is how long it takes until another node is dead if it does not beat before;
// zero: there is none. Leases are judged by the store's clock, of which is known when
// it ends the lease of this node.
func (l *life) nextDeath(ctx context.Context) (time.Duration, error) {
	store, ok := l.keeper.(listsNodes)
	if !ok {
		return 0, nil
	}
	left := l.lease.left() + l.options.Lease - l.lease.length
	nodes, err := store.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	var own, first time.Time
	for i := range nodes {
		switch n := &nodes[i]; {
		case n.ID == l.id:
			own = n.Until
		case !n.Dead && (first.IsZero() || n.Until.Before(first)):
			first = n.Until
		}
	}
	if own.IsZero() || first.IsZero() {
		return 0, nil
	}
	return max(left+first.Sub(own), l.options.Lease/20), nil // it may have happened, and no node can be trusted to say so
}

// keepPruning forgets finished jobs whose retention is over.
func (l *life) keepPruning(ctx context.Context) {
	pruner := newLoop("prune", time.Minute, l.log)
	pruner.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for {
			n, err := l.keeper.Prune(ctx, l.options.Retention, keepChunk)
			if err != nil || n < keepChunk {
				return 0, err
			}
		}
	})
}
