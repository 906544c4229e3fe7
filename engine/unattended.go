package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	// unattendedOverlap is the least overlap of two searches for failures. A failure may
	// become visible up to a minute after its timestamp.
	unattendedOverlap = time.Minute
	// unattendedBack is the age of the oldest failure that a node's first search finds. Stores
	// list dead nodes for longer, and their ends determine which node is responsible.
	unattendedBack = 30 * time.Minute
	// unattendedPage is the number of failed jobs per page.
	unattendedPage = 500
	// unattendedShare bounds the load: the pause after a look is so many times as long as
	// the look took, even if that is longer than a poll.
	unattendedShare = 10
)

// unattended finds jobs that failed while no handler ran: a waiting job was answered with a
// failure or its deadline passed, a job was taken back once too often. It calls OnFailed
// for those that this node is responsible for.
type unattended struct {
	life  *life
	store listsFailures
	kinds []string
	loop  *loop

	mu    sync.Mutex
	told  map[driver.Held]time.Time // failures for which this node has called OnFailed, or is about to
	since time.Time                 // the store's time of the last look; zero before the first
}

// listsFailures is a store that finds failed jobs and knows its nodes. What is in front of one
// may not.
type listsFailures interface {
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	listsNodes
}

var _ listsFailures = driver.Store(nil)

// newUnattended returns nil if no hook wants to know of failures, or if the store cannot
// find them.
func newUnattended(l *life) *unattended {
	store, ok := l.store.(listsFailures)
	u := &unattended{life: l, store: store, told: map[driver.Held]time.Time{}, loop: l.newLoop("unattended failures", l.options.Poll)}
	for _, kind := range l.engine.mux.Kinds() {
		if l.engine.mux.Entry(kind).Options.OnFailed != nil || l.anyHearsFailuresOf(kind) {
			u.kinds = append(u.kinds, kind)
		}
	}
	if !ok || len(u.kinds) == 0 {
		return nil
	}
	return u
}

func (l *life) anyHearsFailuresOf(kind string) bool {
	for _, t := range l.tellers {
		if t.OnFailed != nil && (t.Kind == "" || t.Kind == kind) {
			return true
		}
	}
	return false
}

// run looks for failures until ctx ends.
func (u *unattended) run(ctx context.Context) {
	u.loop.run(ctx, func(ctx context.Context) (time.Duration, error) {
		begin := time.Now()
		err := u.look(ctx)
		if pause := unattendedShare * time.Since(begin); pause > u.loop.every && err == nil {
			err = sleep(ctx, pause-u.loop.every)
		}
		return 0, err
	})
}

// poke makes the node look now.
func (u *unattended) poke() {
	if u != nil {
		u.loop.poke()
	}
}

// finish looks for the last time before the node leaves: from then on another node is
// responsible.
func (u *unattended) finish(ctx context.Context) {
	if u == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, u.life.options.Beat)
	defer cancel()
	if err := u.look(ctx); err != nil {
		u.life.log.Warn("final search for failed jobs failed", "error", err)
	}
}

// attend records settlements that are about to be written: acknowledge calls OnFailed for
// those that fail a job.
func (u *unattended) attend(settlements []fairlead.Settlement) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range settlements {
		if s := &settlements[i]; s.Move == fairlead.Fail {
			u.told[driver.Held{ID: s.ID, Fence: s.Fence}] = time.Now()
		}
	}
}

// look calls OnFailed for the failures since the last look.
func (u *unattended) look(ctx context.Context) error {
	begin := time.Now()
	now, err := u.life.store.Now(ctx)
	if err != nil {
		return err
	}
	filter := fairlead.Filter{States: []fairlead.State{fairlead.Failed}, Kinds: u.kinds, FinishedFrom: now.Add(-unattendedBack), Limit: unattendedPage}
	if !u.since.IsZero() {
		filter.FinishedFrom = u.since.Add(-u.overlap())
	}
	duty := &duty{node: u.life.id, store: u.store}
	for {
		page, err := u.store.FindPage(ctx, filter)
		if err != nil {
			return err
		}
		mine, err := duty.choose(ctx, u.untold(page.Jobs))
		if err != nil {
			return err
		}
		u.life.announce(u.take(mine))
		if filter.Below = page.Next; page.Next == 0 {
			break
		}
	}
	u.since = now
	u.forget(begin)
	return nil
}

// untold returns the failed jobs that this node has not announced.
func (u *unattended) untold(jobs []*fairlead.Job) (untold []*fairlead.Job) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, job := range jobs {
		if _, told := u.told[driver.Held{ID: job.ID, Fence: job.Fence}]; !told {
			untold = append(untold, job)
		}
	}
	return untold
}

// take returns what this node announces now, once: a settlement may have told of it meanwhile.
func (u *unattended) take(jobs []*fairlead.Job) (own []failure) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, job := range jobs {
		key := driver.Held{ID: job.ID, Fence: job.Fence}
		if _, told := u.told[key]; told {
			continue
		}
		u.told[key] = time.Now()
		own = append(own, failure{job: job, options: &u.life.engine.mux.Entry(job.Kind).Options, err: errors.New(job.Error)})
	}
	return own
}

// overlap is the overlap of two searches. A node that was killed counts as responsible until its
// lease has run out.
func (u *unattended) overlap() time.Duration { return unattendedOverlap + 2*u.life.options.Lease }

// forget drops failures that no later look finds. The time of one is that before it was
// written, or when it was found.
func (u *unattended) forget(looked time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, at := range u.told {
		if looked.Sub(at) > 2*u.overlap() {
			delete(u.told, key)
		}
	}
}

// duty decides which node announces a failure: the one that ran the job if it was alive at
// that moment, else the first to join of those that handle the kind and have not ended
// before. All nodes decide the same, as a node's end does not change.
type duty struct {
	node  fairlead.NodeID
	store listsNodes
	nodes []fairlead.Node // read when they are needed
}

// choose returns the jobs whose failures are announced by this node.
func (d *duty) choose(ctx context.Context, jobs []*fairlead.Job) (mine []*fairlead.Job, err error) {
	for _, job := range jobs {
		falls, err := d.falls(ctx, job)
		if err != nil {
			return nil, err
		}
		if falls {
			mine = append(mine, job)
		}
	}
	return mine, nil
}

// falls reports whether the failure of a job is announced by this node.
func (d *duty) falls(ctx context.Context, job *fairlead.Job) (bool, error) {
	if job.Node == d.node {
		return true, nil
	}
	if d.nodes == nil {
		nodes, err := d.store.Nodes(ctx)
		if err != nil {
			return false, err
		}
		d.nodes = nodes
	}
	first := d.node
	for i := range d.nodes {
		n := &d.nodes[i]
		if !outlived(n, job.FinishedAt) {
			continue
		}
		if n.ID == job.Node {
			return false, nil
		}
		if !n.Remote && n.ID < first && n.ServesTenant(job.Queue, job.Tenant, job.Kind) { // a remote worker cannot find failed jobs
			first = n.ID
		}
	}
	return first == d.node, nil
}

// outlived reports whether a node lives, or was surely alive at a moment or later: a node that was
// killed may have ended right after its last beat.
func outlived(n *fairlead.Node, moment time.Time) bool {
	switch {
	case !n.Dead:
		return true
	case n.LeftAt.IsZero():
		return !n.LastBeat.Before(moment)
	}
	return !n.LeftAt.Before(moment)
}
