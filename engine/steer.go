package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// steerer looks at sweeps: at those whose shards have ended on this node at once, at
// all that are not at rest every poll.
type steerer struct {
	life  *life
	store driver.Store
	loop  *loop

	mu      sync.Mutex
	news    map[int64]bool // sweeps whose shards have ended
	all     time.Time      // when all are looked at next
	running int            // sweeps, as seen last
	hurried bool           // all is looked at sooner than it would be
	calm    time.Time      // until then there is no hurry
}

func newSteerer(l *life, store driver.Store) *steerer {
	return &steerer{life: l, store: store, loop: l.newLoop("steer", l.options.Poll), news: map[int64]bool{}}
}

// ended makes the loop look at the sweeps whose shards are among the jobs.
func (s *steerer) ended(jobs []*fairlead.Job) {
	news := false
	s.mu.Lock()
	for _, job := range jobs {
		if sweep := sweep.Of(job); sweep != 0 {
			s.news[sweep], news = true, true
		}
	}
	s.mu.Unlock()
	if news {
		s.loop.poke()
	}
}

// hurrySoon is the part of a poll after which all are looked at if there may be news.
const hurrySoon = 10

// hurry says that there may be shards that another node gave back: if that node goes,
// this one may have more than its share so far. It is heard once every poll.
func (s *steerer) hurry() {
	s.mu.Lock()
	sooner := time.Now().Add(s.life.options.Poll / hurrySoon)
	heard := s.running > 0 && !s.hurried && sooner.Before(s.all) && !sooner.Before(s.calm)
	if heard {
		s.all, s.hurried = sooner, true
	}
	s.mu.Unlock()
	if heard {
		s.loop.poke()
	}
}

// learn is for a shard that was claimed here. If no sweep ran before, all is looked at
// at once: it is not known yet how many of its shards are for this node.
func (s *steerer) learn() {
	s.mu.Lock()
	unheard := s.running == 0
	if unheard {
		s.running, s.all = 1, time.Time{}
	}
	s.mu.Unlock()
	if unheard {
		s.loop.poke()
	}
}

// waitSoon is the part of a poll after which all are looked at again if shards wait.
const waitSoon = 5

// lookSoon is for what does not wait for a poll, such as shards that are others' to
// claim: if the node that gave them back has gone by then, they are not.
func (s *steerer) lookSoon(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if soon := now.Add(s.life.options.Poll / waitSoon); soon.Before(s.all) {
		s.all = soon
	}
}

// run goes round until its context ends.
func (s *steerer) run(ctx context.Context) {
	s.loop.run(ctx, func(ctx context.Context) (time.Duration, error) {
		due, err := s.due(ctx, time.Now())
		if err != nil {
			return 0, err
		}
		for _, id := range slices.Sorted(maps.Keys(due)) {
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
		if s.hurried { // not again before this is over
			s.hurried = false
			s.calm = s.all
		}
	}
	s.mu.Unlock()
	if !everything {
		return due, nil
	}
	running := 0
	filter := sweep.Filter{States: []sweep.State{sweep.Waiting, sweep.Running, sweep.Stopping}, Limit: openPage}
	for {
		found, err := s.store.Sweeps(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range found {
			due[found[i].ID] = true
			if found[i].State == sweep.Running {
				running++
			}
			if slices.ContainsFunc(found[i].Silent, func(q sweep.Silence) bool { return !q.Free }) {
				s.lookSoon(now) // others are to have its rate
			}
		}
		if len(found) < openPage {
			return due, s.allot(ctx, running)
		}
		filter.Below = found[len(found)-1].ID
	}
}

// allot finds where the shards of sweeps are, and how many this node should have. If
// it has too many, it gives one to others.
func (s *steerer) allot(ctx context.Context, running int) error {
	nodes, err := s.store.Nodes(ctx)
	if err != nil {
		return err
	}
	var jobs []*fairlead.Job
	if running > 0 {
		if jobs, err = s.shardJobs(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.running = running
	s.mu.Unlock()
	p, own, now := newPlacement(nodes, jobs, running), s.life.sweeps, time.Now()
	onTheWay := own.see(p, s.life.id, now)
	switch {
	case len(p.waiting) == 0:
	case own.room(now) != 0:
		s.life.wakeGroups() // there may have been no room when they came
	default:
		s.lookSoon(now)
	}
	if own.mayGive(now, p.claimed(s.life.id)) {
		if sweep := p.surplus(s.life.id, onTheWay); sweep != 0 {
			s.life.log.Info("moving a shard to another node", "sweep", sweep)
			own.give(sweep, s.life.registry.snapshot(), now)
		}
	}
	return nil
}

// shardJobs lists the jobs of shards that run or wait for a node.
func (s *steerer) shardJobs(ctx context.Context) ([]*fairlead.Job, error) {
	kinds := slices.DeleteFunc(s.life.engine.mux.Kinds(), func(kind string) bool { return !sweep.IsShardKind(kind) })
	if len(kinds) == 0 {
		return nil, nil
	}
	var jobs []*fairlead.Job
	filter := fairlead.Filter{Kinds: kinds, States: []fairlead.State{fairlead.Ready, fairlead.Running}, Limit: sweep.MaxShards}
	for {
		found, err := s.store.Find(ctx, filter)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, found...)
		if len(found) < sweep.MaxShards {
			return jobs, nil
		}
		filter.Below = found[len(found)-1].ID
	}
}

// steer looks at one sweep. One that cannot be looked at does not keep the others
// waiting: it has its turn again with the next poll.
func (s *steerer) steer(ctx context.Context, id int64) {
	err := sweep.Steer(ctx, s.store, id)
	if err != nil && ctx.Err() == nil && !errors.Is(err, fairlead.ErrNotFound) {
		s.life.log.Warn("sweep check failed", "sweep", id, "error", err)
	}
}
