package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// stallJobs is how many ready jobs are asked why they do not run.
const stallJobs = 20

// explainer tells of jobs why they do not run. Stores do; what is in front of one
// may not.
type explainer interface {
	Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error)
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
}

// keepClaiming claims until ctx ends, and begins anew whenever the group has
// stalled. A claim that hangs is left behind, and waited for at the end.
func (g *group) keepClaiming(ctx context.Context) {
	var rounds sync.WaitGroup
	defer rounds.Wait()
	for ctx.Err() == nil {
		round, end := context.WithCancel(ctx)
		rounds.Go(func() { g.claimUntil(round) })
		select {
		case <-ctx.Done():
		case <-g.anew:
		}
		end()
	}
}

// watchStalls looks for groups that do not take what they could: there is work that
// nothing keeps from starting, there is room for it, and yet for some polls no claim
// brought any and none ended. That the backlog grows is no stall.
func (g *group) watchStalls(ctx context.Context) {
	jobs, can := g.life.store.(explainer)
	if !can {
		return
	}
	w := stallWatch{group: g, jobs: jobs}
	watch := g.life.newLoop("watch for stalls", g.life.options.Poll)
	watch.run(ctx, func(ctx context.Context) (time.Duration, error) { return 0, w.look(ctx) })
}

// stallWatch is what is known of a group that may have stalled.
type stallWatch struct {
	group *group
	jobs  explainer
	moves int64 // claimed jobs and ends of runs, as they were when something last moved
	quiet int   // polls since then, or since the last look for work
	ready bool  // that found some
}

func (w *stallWatch) look(ctx context.Context) error {
	g := w.group
	moves := g.claimed.Load() + g.ended.Load()
	if moves != w.moves || g.room() <= 0 || g.life.engine.halted() || !g.life.lease.valid() {
		w.moves, w.quiet, w.ready = moves, 0, false
		return nil
	}
	// So many polls are between two looks for work: if both find some, and nothing has
	// moved meanwhile, it is a stall.
	if w.quiet++; w.quiet < g.life.options.BlockingCountLimit {
		return nil
	}
	w.quiet = 0
	ready, err := w.startable(ctx)
	if err != nil {
		return err
	}
	if !ready || !w.ready { // what has only just become ready is no stall
		w.ready = ready
		return nil
	}
	w.ready = false
	if g.claimed.Load()+g.ended.Load() == moves {
		g.stalled()
	}
	return nil
}

// startable reports whether there is a job that the group could start now.
func (w *stallWatch) startable(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, w.group.life.options.Lease)
	defer cancel()
	scope := w.group.scope
	found, err := w.jobs.Find(ctx, fairlead.Filter{States: []fairlead.State{fairlead.Ready}, Kinds: scope.Kinds, Queues: scope.Queues, Limit: stallJobs})
	if err != nil {
		return false, err
	}
	rooms := w.group.rooms()
	for _, job := range found {
		if room, bounded := rooms[job.Kind]; bounded && room == 0 || slices.Contains(scope.Except, job.Queue) {
			continue
		}
		why, err := w.jobs.Explain(ctx, job.ID)
		if err != nil {
			return false, err
		}
		if why.State == fairlead.Ready && !hindered(why.Obstacles) {
			return true, nil
		}
	}
	return false, nil
}

// hindered reports whether something but other jobs keeps a job from starting.
func hindered(obstacles []fairlead.Obstacle) bool {
	for _, o := range obstacles {
		if o.Code != fairlead.InLine && o.Code != fairlead.NoSlot {
			return true
		}
	}
	return false
}

// stalled begins to claim anew.
func (g *group) stalled() {
	g.life.log.Error("stalled: there are jobs and free slots, but nothing is claimed; restarting claims",
		"queues", g.scope.Queues, "polls", g.life.options.BlockingCountLimit, "held", g.held.Load(), "slots", g.slots)
	g.life.options.Observer.Stalled()
	select {
	case g.anew <- struct{}{}:
	default: // it is about to
	}
}
