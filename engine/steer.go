package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// steerer looks at sweeps: at those whose shards have ended on this node at once, at
// all that are not at rest every poll.
type steerer struct {
	life  *life
	store fairlead.Store
	loop  *loop

	mu   sync.Mutex
	news map[int64]bool // sweeps whose shards have ended
	all  time.Time      // when all are looked at next
}

func newSteerer(l *life, store fairlead.Store) *steerer {
	return &steerer{life: l, store: store, loop: newLoop("steer", l.options.Poll, l.log), news: map[int64]bool{}}
}

// tell says that jobs of shards have ended.
func (s *steerer) tell(batch []ending) {
	told := false
	s.mu.Lock()
	for _, e := range batch {
		if sweep := sweepOf(e.run.job); sweep != 0 {
			s.news[sweep], told = true, true
		}
	}
	s.mu.Unlock()
	if told {
		s.loop.poke()
	}
}

// sweepOf is the sweep whose shard a job goes over; zero: it is another job.
func sweepOf(job *fairlead.Job) int64 {
	if !isShardKind(job.Kind) {
		return 0
	}
	var args fairlead.ShardArgs
	if json.Unmarshal(job.Args, &args) != nil {
		return 0
	}
	return args.Sweep
}

// isShardKind tells whether jobs of a kind go over shards of sweeps.
func isShardKind(kind string) bool { return fairlead.IsShardKind(kind) }

// run goes round until its context ends.
func (s *steerer) run(ctx context.Context) {
	s.loop.run(ctx, func(ctx context.Context) (time.Duration, error) {
		due, err := s.due(ctx, time.Now())
		if err != nil {
			return 0, err
		}
		for id := range due {
			s.steer(ctx, id)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return max(time.Until(s.all), time.Nanosecond), nil
	})
}

// due lists the sweeps that are to be looked at.
func (s *steerer) due(ctx context.Context, now time.Time) (map[int64]bool, error) {
	s.mu.Lock()
	due, everything := s.news, !now.Before(s.all)
	s.news = map[int64]bool{}
	if everything {
		s.all = now.Add(s.life.options.Poll)
	}
	s.mu.Unlock()
	if !everything {
		return due, nil
	}
	running := 0
	filter := fairlead.SweepFilter{States: []fairlead.SweepState{fairlead.SweepWaiting, fairlead.SweepRunning, fairlead.SweepStopping}, Limit: openPage}
	for {
		found, err := s.store.Sweeps(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range found {
			due[found[i].ID] = true
			if found[i].State == fairlead.SweepRunning {
				running++
			}
		}
		if len(found) < openPage {
			return due, s.allot(ctx, running)
		}
		filter.Below = found[len(found)-1].ID
	}
}

// allot finds how many sweeps this node may have shards of: as many as each has if
// all nodes have the same.
func (s *steerer) allot(ctx context.Context, running int) error {
	if running == 0 {
		s.life.sweeps.setMost(1)
		return nil
	}
	nodes, err := s.store.Nodes(ctx)
	if err != nil {
		return err
	}
	live := 0
	for i := range nodes {
		if n := &nodes[i]; !n.Dead && !n.Draining && slices.ContainsFunc(n.Kinds, isShardKind) {
			live++
		}
	}
	live = max(live, 1)
	s.life.sweeps.setMost((running + live - 1) / live)
	return nil
}

// steer looks at one sweep. One that cannot be looked at does not keep the others
// waiting: it has its turn again with the next poll.
func (s *steerer) steer(ctx context.Context, id int64) {
	err := fairlead.SteerSweep(ctx, s.store, id)
	if err != nil && ctx.Err() == nil && !errors.Is(err, fairlead.ErrNotFound) {
		s.life.log.Warn("a sweep could not be looked at", "sweep", id, "error", err)
	}
}
