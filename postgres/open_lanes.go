package postgres

import (
	"sync"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openLane is a lane that is not paused.
type openLane struct {
	id int32
	sqlstore.LaneKey
	hold    *hold // the limits that its jobs hold; nil if none
	fair    bool  // tenants share the starts of its queue by weight
	foreign bool  // the claim does not serve it

	// These belong to a single claim that reads all lanes:
	room   int
	outset claimStart
}

func (l *openLane) limited() bool { return l.hold != nil }

// openLanes holds the lanes that are not paused, as a scope sees them under unchanging
// limits. It spares claims to go through thousands of lanes.
type openLanes struct {
	lanes   []openLane // served
	limited bool       // some of lanes are under limits
	fair    bool       // tenants share the starts of some of lanes
	mixed   bool       // but not of all, or not in one scope
	scope   string     // of the first of them
	foreign []openLane // under limits, but not served
}

type openList struct {
	mu sync.Mutex
	openLanes
	seen  int    // how many of the known lanes are in the list
	epoch uint64 // of the known lanes
}

// openLanes returns the lanes that are not paused. Callers must not change it.
func (r *limitConfig) openLanes(scope *driver.Scope, lanes *sqlstore.Lanes) openLanes {
	list := r.open.Of(scope)
	list.mu.Lock()
	defer list.mu.Unlock()
	all, epoch := lanes.List()
	if epoch != list.epoch {
		list.openLanes, list.seen, list.epoch = openLanes{}, 0, epoch
	}
	for ; list.seen < len(all); list.seen++ {
		lane := all[list.seen]
		if r.Paused(lane.LaneKey) {
			continue
		}
		open := openLane{id: lane.ID, LaneKey: lane.LaneKey, hold: r.hold(lane)}
		var party dispatch.Party
		party, open.fair = r.Party(lane.LaneKey)
		switch {
		case sqlstore.Serves(scope, lane.LaneKey):
			if len(list.lanes) == 0 {
				list.scope = party.Scope
			}
			list.lanes = append(list.lanes, open)
			list.limited = list.limited || open.limited()
			list.fair = list.fair || open.fair
			list.mixed = list.mixed || open.fair != list.lanes[0].fair || party.Scope != list.scope
		case open.limited():
			open.foreign = true
			list.foreign = append(list.foreign, open)
		}
	}
	return list.openLanes
}
