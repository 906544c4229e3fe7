package dispatch

import (
	"container/heap"
	"slices"
)

// closing is the reason why lanes that could start a job no longer can.
type closing struct {
	limits []*Limit // limits without room, or of tenants that have reached their minimum
	all    bool     // another reason: any lane may be closed
}

// none reports whether no lane is closed.
func (c closing) none() bool { return !c.all && len(c.limits) == 0 }

// closing returns the reason why a lane cannot start a job any more.
func (c *choice) closing(lane *Lane) closing {
	found := closing{all: !c.room(lane)}
	for _, limit := range lane.Limits {
		if limit.Room() <= c.started[limit] || limit == lane.Tenant && !c.short(lane) {
			found.limits = append(found.limits, limit)
		}
	}
	return found
}

// forget drops lanes of a scope that cannot start a job any more, as far as they stand first in
// a group of several parts. Such a lane hides the jobs of the other parts, which have had more
// starts: the whole scope would compete with a job that cannot start. Other closed lanes do no
// harm where they are: merge drops each of them when it comes first.
func (g *group) forget(closed closing, startable func(*Lane) bool) {
	moved := false
	for _, part := range g.closedBy(closed) {
		moved = part.uncover(startable) || moved
	}
	if moved {
		heap.Init(&g.parts)
	}
	g.uncover(startable)
}

// uncover drops the first lanes of several parts that cannot start a job any more. It
// reports whether there were any.
func (g *group) uncover(startable func(*Lane) bool) (moved bool) {
	for len(g.parts) > 1 && !startable(g.first().lane) {
		g.parts[0].drop(startable)
		g.settle()
		moved = true
	}
	return moved
}

// closedBy returns the families of several tenants in a scope with lanes that may be
// closed. Even with very many families, these are few for most limits.
func (g *group) closedBy(closed closing) []*group {
	if closed.all {
		return g.mixed
	}
	if g.under == nil {
		g.under = map[*Limit][]*group{}
		for _, family := range g.mixed {
			family.all(func(p place) {
				for _, limit := range p.lane.Limits {
					if under := g.under[limit]; len(under) == 0 || under[len(under)-1] != family {
						g.under[limit] = append(under, family)
					}
				}
			})
		}
	}
	var found []*group
	for _, limit := range closed.limits {
		found = slices.Concat(found, g.under[limit])
	}
	return found
}
