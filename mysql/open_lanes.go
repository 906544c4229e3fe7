package mysql

import (
	"slices"
	"sync"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openLane is a lane that is not paused.
type openLane struct {
	sqlstore.Lane
	limitIDs []int32 // that its jobs count against, in order
	tenant   int32   // the tenant's own limit; zero: it has none
	promised bool    // its tenant has a minimum
	fair     bool    // tenants share the starts of its queue by weight
	foreign  bool    // the scope does not serve it
}

// openLanes holds the lanes that concern a scope under unchanging limits. It spares
// claims to go through thousands of lanes.
type openLanes struct {
	own     []openLane
	foreign []openLane // under limits, but not served by the scope
	limited bool       // some of own are under limits
	common  []int32    // limits that all of them count against
	kinds   []string   // of own
}

type openList struct {
	mu sync.Mutex
	openLanes
	seen  int    // how many of the known lanes are in the list
	epoch uint64 // of the known lanes
}

// openLanes returns the known lanes that are not paused. Callers must not change it.
func (r *limitConfig) openLanes(scope *driver.Scope, lanes *sqlstore.Lanes) openLanes {
	list := r.open.Of(scope)
	list.mu.Lock()
	defer list.mu.Unlock()
	known, epoch := lanes.List()
	if epoch != list.epoch {
		list.openLanes, list.seen, list.epoch = openLanes{}, 0, epoch
	}
	for ; list.seen < len(known); list.seen++ {
		if lane := known[list.seen]; !r.Paused(lane.LaneKey) {
			list.add(r.openLane(lane), sqlstore.Serves(scope, lane.LaneKey))
		}
	}
	return list.openLanes
}

func (r *limitConfig) openLane(lane sqlstore.Lane) openLane {
	open := openLane{Lane: lane, limitIDs: r.Of(lane.LaneKey)}
	_, open.fair = r.Party(lane.LaneKey)
	if tenant, limited := r.Tenant(lane.LaneKey); limited {
		open.tenant, open.promised = tenant, r.ByID[tenant].Min > 0
	}
	return open
}

func (l *openList) add(lane openLane, serves bool) {
	first := len(l.own)+len(l.foreign) == 0
	switch {
	case serves:
		l.own = append(l.own, lane)
		l.limited = l.limited || len(lane.limitIDs) > 0
		if !slices.Contains(l.kinds, lane.Kind) {
			l.kinds = append(l.kinds, lane.Kind)
		}
	case len(lane.limitIDs) > 0:
		lane.foreign = true
		l.foreign = append(l.foreign, lane)
	default:
		return
	}
	if first {
		l.common = lane.limitIDs
		return
	}
	foreign := func(limit int32) bool { return !slices.Contains(lane.limitIDs, limit) }
	if slices.ContainsFunc(l.common, foreign) {
		l.common = slices.DeleteFunc(slices.Clone(l.common), foreign)
	}
}

// many reports whether there are so many lanes that a claim does not read each. A claim
// of suspects ignores foreign lanes.
func (l *openLanes) many(solo bool) bool {
	n := len(l.own)
	if l.limited && !solo {
		n += len(l.foreign)
	}
	return n > manyLanes
}
