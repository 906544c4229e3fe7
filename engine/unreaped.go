package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	// unsteadyLeases is for how many leases a node may be untrusted before it takes jobs
	// back all the same: where every node misses a beat now and then, none would ever.
	unsteadyLeases = 3
	// unreapedLeases is how many leases after a death its jobs have been taken back, if
	// any node does it.
	unreapedLeases = 2 * unsteadyLeases
	// unreapedNodes bounds how many dead nodes one look is about.
	unreapedNodes = 20
)

// unsteadiness is for how long a process was not trusted, in one life after the other,
// while it reached the store. Only the loop that reaps uses it.
type unsteadiness struct {
	lasted time.Duration
	looked time.Time
	told   bool // whether the log says so
}

// mayReap reports whether the node may take jobs back: it is trusted, or has not been for
// so long that perhaps no node is.
func (l *life) mayReap() bool {
	u := &l.engine.unsteady
	switch {
	case l.trusted():
		*u = unsteadiness{}
		return true
	case !l.lease.valid():
		return false
	case !u.looked.IsZero(): // an outage in between does not count
		u.lasted += min(time.Since(u.looked), l.options.Lease/2)
	}
	u.looked = time.Now()
	if u.lasted < unsteadyLeases*l.options.Lease {
		return false
	}
	if !u.told {
		l.log.Warn("heartbeats keep failing: reclaiming jobs of dead nodes anyway", "for", u.lasted)
		u.told = true
	}
	return true
}

// listsNodes is a store that can tell of its nodes. What is in front of one may not.
type listsNodes interface {
	Nodes(ctx context.Context) ([]fairlead.Node, error)
}

var _ listsNodes = driver.Store(nil)

// watchUnreaped complains of jobs that dead nodes have held for long: no node takes
// them back, or cannot, and none of them runs.
func (l *life) watchUnreaped(ctx context.Context) {
	store, ok := l.keeper.(listsNodes)
	if !ok {
		return
	}
	// Dead nodes that held nothing at a look, six leases or more after their end, are not
	// looked at again. A claim of such a node can still commit if the database server stood
	// still for that long. Reap, which looks at all nodes, takes its jobs back.
	empty := map[fairlead.NodeID]bool{}
	watch := l.newLoop("watch for jobs of dead nodes", l.options.Lease)
	watch.run(ctx, func(ctx context.Context) (time.Duration, error) {
		nodes, err := store.Nodes(ctx)
		if err != nil {
			return 0, err
		}
		now, err := l.store.Now(ctx)
		if err != nil {
			return 0, err
		}
		return 0, l.complainOfUnreaped(ctx, longDead(nodes, now.Add(-unreapedLeases*l.options.Lease), empty), empty)
	})
}

// longDead lists nodes whose lease ended before a time, longest dead first, without
// those that hold nothing, and forgets those of which there is no trace any more.
func longDead(nodes []fairlead.Node, before time.Time, empty map[fairlead.NodeID]bool) []fairlead.Node {
	var dead []fairlead.Node
	known := map[fairlead.NodeID]bool{}
	for _, node := range nodes {
		known[node.ID] = true
		if node.Dead && node.Until.Before(before) && !empty[node.ID] && len(dead) < unreapedNodes {
			dead = append(dead, node)
		}
	}
	for id := range empty {
		if !known[id] {
			delete(empty, id)
		}
	}
	return dead
}

func (l *life) complainOfUnreaped(ctx context.Context, dead []fairlead.Node, empty map[fairlead.NodeID]bool) error {
	jobs := 0
	var holders []fairlead.NodeID
	for _, node := range dead {
		held, err := l.store.Held(ctx, node.ID)
		if err != nil {
			return err
		}
		if len(held) == 0 {
			empty[node.ID] = true
			continue
		}
		jobs += len(held)
		holders = append(holders, node.ID)
	}
	l.options.Observer.Unreaped(jobs)
	if jobs > 0 {
		l.log.Error("jobs of dead nodes are not reclaimed and do not run", "jobs", jobs, "dead_nodes", holders,
			"longer_than", unreapedLeases*l.options.Lease, "may_take_back", l.trusted())
	}
	return nil
}
