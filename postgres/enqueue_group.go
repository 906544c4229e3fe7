package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	gatherFlights = 2   // statements in flight before callers are gathered
	gatherMost    = 200 // callers in one statement
	gatherBelow   = 10  // a call with this many jobs or more is stored alone
)

// enqueueGroup stores the jobs of concurrent callers with one statement and one commit.
// It does not delay a single caller: callers wait only while gatherFlights statements
// are in flight, and are then stored together.
type enqueueGroup struct {
	mu      sync.Mutex
	flights int
	waiting []*groupMember
	flying  sync.WaitGroup // flights with several callers
}

// groupMember is one waiting caller.
type groupMember struct {
	fresh *newJobs
	done  chan error // receives the caller's result
}

// enqueueInGroup stores jobs without keys, perhaps together with those of other
// callers.
func (s *Store) enqueueInGroup(ctx context.Context, fresh *newJobs) error {
	g := &s.group
	g.mu.Lock()
	if g.flights < gatherFlights {
		g.flights++
		g.mu.Unlock()
		defer s.groupStored()
		return s.runPlain(ctx, fresh.plainCall(s))
	}
	// A caller that gives up may change its jobs while others still store them.
	p := &groupMember{fresh: fresh.copied(), done: make(chan error, 1)}
	g.waiting = append(g.waiting, p)
	g.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		g.leave(p)
		return sqlstore.Ended(ctx)
	}
}

// leave removes a caller that no longer wants to wait. Jobs that are already in flight
// are stored nevertheless.
func (g *enqueueGroup) leave(p *groupMember) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(waiting *groupMember) bool { return waiting == p })
}

// groupStored ends a flight. The callers that arrived meanwhile make up the next one.
func (s *Store) groupStored() {
	g := &s.group
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), gatherMost)
	if n == 0 {
		g.flights--
		return
	}
	crew := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	g.flying.Go(func() {
		defer s.groupStored()
		s.storeGroup(crew)
	})
}

// copied returns a copy of the jobs.
func (n *newJobs) copied() *newJobs {
	jobs := make([]*fairlead.Job, len(n.jobs))
	for i, job := range n.jobs {
		own := *job
		own.Args = slices.Clone(job.Args)
		jobs[i] = &own
	}
	return &newJobs{jobs: jobs, ids: n.ids, lanes: n.lanes, server: n.server}
}

// storeGroup stores the jobs of all callers. If one caller's jobs make the statement
// fail, it stores each caller's jobs alone.
func (s *Store) storeGroup(crew []*groupMember) {
	// Independent of how long each caller wants to wait.
	ctx, cancel := s.withTimeout(context.Background())
	defer cancel()
	all := &newJobs{server: crew[0].fresh.server}
	together := true
	for _, p := range crew {
		together = together && p.fresh.server == all.server
		all.jobs, all.ids, all.lanes = append(all.jobs, p.fresh.jobs...), append(all.ids, p.fresh.ids...), append(all.lanes, p.fresh.lanes...)
	}
	var err error
	if together {
		err = s.runPlain(ctx, all.plainCall(s))
	}
	refusal, changed := (*pgconn.PgError)(nil), sqlstore.ChangedLanes(nil)
	undone := !together || errors.As(err, &refusal) || errors.As(err, &changed)
	for _, p := range crew {
		if undone {
			err = s.runPlain(ctx, p.fresh.plainCall(s))
		}
		p.done <- err
	}
}
