package engine

import (
	"context"
	"maps"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// keepChunk is how many jobs one housekeeping statement moves, so that none
// takes long.
const keepChunk = 1000

// sayRetention is how often a node repeats how long jobs of kinds are kept. It is stored:
// no node knows which one prunes, and one that does not know the kind has to keep to it.
const sayRetention = time.Hour

// kindRetention is how long jobs of kinds are kept that say so.
func (o Options) kindRetention(mux *fairlead.Mux) map[string]fairlead.Retention {
	kinds := map[string]fairlead.Retention{}
	for _, kind := range mux.Kinds() {
		if keep := mux.Entry(kind).Options.Retention; keep != (fairlead.Retention{}) {
			kinds[kind] = keep
		}
	}
	maps.Copy(kinds, o.KindRetention)
	return kinds
}

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
	reaper := l.newLoop("reap", l.options.Lease/4)
	known := newDeaths(l)
	reaper.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for l.mayReap() {
			reaped, err := l.keeper.Reap(ctx, driver.Reap{By: l.id, MaxCrashes: l.options.MaxCrashes, Limit: keepChunk, Patience: unsteadyLeases * l.options.Lease})
			if reaped != (driver.Reaped{}) { // which may be before it failed
				l.options.Observer.Reaped(reaped)
				known.declared += reaped.Nodes
				l.log.Warn("reclaimed jobs from dead nodes", "dead_nodes", reaped.Nodes, "jobs", reaped.Jobs, "poisoned", reaped.Poisoned, "cancelled", reaped.Cancelled)
			}
			if err != nil {
				return 0, err
			}
			if reaped.Jobs+reaped.Poisoned+reaped.Cancelled < keepChunk {
				break
			}
		}
		return known.next(ctx)
	})
}

// keepPruning forgets finished jobs whose retention is over.
func (l *life) keepPruning(ctx context.Context) {
	pruner := l.newLoop("prune", time.Minute)
	kinds := l.options.kindRetention(l.engine.mux)
	var said time.Time
	pruner.run(ctx, func(ctx context.Context) (time.Duration, error) {
		if len(kinds) > 0 && time.Since(said) >= sayRetention { // before anything is removed
			if err := l.keeper.KeepKinds(ctx, kinds); err != nil {
				return 0, err
			}
			said = time.Now()
		}
		for {
			n, err := l.keeper.Prune(ctx, l.options.Retention, keepChunk)
			if err != nil || n < keepChunk {
				return 0, err
			}
		}
	})
}
