package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
)

const (
	gatherFlights = 2   // statements under way before callers are gathered
	gatherMost    = 200 // callers in one statement
	gatherBelow   = 10  // from so many jobs on a call goes by itself
)

// gatherer stores the jobs of callers that come at once with one statement and
// one commit. Callers that come alone are not delayed: only while gatherFlights
// statements are under way do others wait, and the first of them then takes
// along all that have come meanwhile.
type gatherer struct {
	mu      sync.Mutex
	flights int
	waiting []*passenger
}

// passenger is one caller that waits.
type passenger struct {
	fresh *newJobs
	crew  chan []*passenger // gets those whom this one is to take along, itself first
	done  chan error        // gets what became of it, if another took it along
	left  bool              // it no longer waits
}

// enqueueGathered stores jobs without keys, perhaps together with others.
func (s *Store) enqueueGathered(ctx context.Context, fresh *newJobs) error {
	g := &s.gather
	g.mu.Lock()
	if g.flights < gatherFlights {
		g.flights++
		g.mu.Unlock()
		defer g.land()
		return s.runPlain(ctx, fresh.plainCall(s))
	}
	// A caller that gives up may change its jobs while others still store them.
	p := &passenger{fresh: fresh.copied(), crew: make(chan []*passenger, 1), done: make(chan error, 1)}
	g.waiting = append(g.waiting, p)
	g.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	case crew := <-p.crew:
		defer g.land()
		return s.fly(ctx, crew)
	case <-ctx.Done():
		g.leave(p)
		return ctx.Err()
	}
}

// copied is the same jobs in memory of their own.
func (n *newJobs) copied() *newJobs {
	jobs := make([]*fairlead.Job, len(n.jobs))
	for i, job := range n.jobs {
		own := *job
		own.Args = slices.Clone(job.Args)
		jobs[i] = &own
	}
	return &newJobs{jobs: jobs, ids: n.ids, lanes: n.lanes}
}

// land ends a flight; those who have come meanwhile are the next.
func (g *gatherer) land() {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), gatherMost)
	crew := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.launch(crew)
}

// launch makes the first who is still there take the others along.
func (g *gatherer) launch(crew []*passenger) {
	for len(crew) > 0 && crew[0].left {
		crew = crew[1:]
	}
	if len(crew) == 0 {
		g.flights--
		return
	}
	crew[0].crew <- crew
}

// leave is for a caller that no longer wants to wait. If others have taken
// its jobs along already they are stored nevertheless.
func (g *gatherer) leave(p *passenger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p.left = true
	g.waiting = slices.DeleteFunc(g.waiting, func(waiting *passenger) bool { return waiting == p })
	select {
	case crew := <-p.crew: // it was about to take others along
		g.launch(crew)
	default:
	}
}

// fly stores the jobs of all and tells the others. What one of them spoils is
// tried again one by one.
func (s *Store) fly(ctx context.Context, crew []*passenger) error {
	// The others do not depend on how long the first one wants to wait.
	ctx, cancel := s.limit(context.WithoutCancel(ctx))
	defer cancel()
	all := &newJobs{}
	for _, p := range crew {
		all.jobs, all.ids, all.lanes = append(all.jobs, p.fresh.jobs...), append(all.ids, p.fresh.ids...), append(all.lanes, p.fresh.lanes...)
	}
	err := s.runPlain(ctx, all.plainCall(s))
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) { // the server undid it all
		for _, p := range crew[1:] {
			p.done <- s.runPlain(ctx, p.fresh.plainCall(s))
		}
		return s.runPlain(ctx, crew[0].fresh.plainCall(s))
	}
	for _, p := range crew[1:] {
		p.done <- err
	}
	return err
}
