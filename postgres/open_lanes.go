package postgres

import (
	"sync"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openLane is a lane that is not paused.
type openLane struct {
	id int32
	sqlstore.LaneKey
	hold    *hold // nil: nothing
	strange bool  // the claim does not serve it

	// Only of one claim, where all lanes are looked into:
	room   int
	outset claimStart
}

func (l *openLane) limited() bool { return l.hold != nil }

// openLanes are the lanes that are not paused as a scope sees them, under rules
// that do not change: claims need not go through thousands of lanes to find out.
type openLanes struct {
	lanes   []openLane // served
	limited bool       // some of them are
	strange []openLane // not served, but under limits
}

type openList struct {
	mu sync.Mutex
	openLanes
	seen  int    // of all known lanes
	epoch uint64 // of theirs
}

// openLanes lists the lanes that are not paused. Callers must not change it.
func (r *rules) openLanes(scope *driver.Scope, lanes *sqlstore.Lanes) openLanes {
	entry, ok := r.open.Load(scope)
	if !ok {
		entry, _ = r.open.LoadOrStore(scope, &openList{})
	}
	list := entry.(*openList)
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
		switch {
		case sqlstore.Serves(scope, lane.LaneKey):
			list.lanes = append(list.lanes, open)
			list.limited = list.limited || open.limited()
		case open.limited():
			open.strange = true
			list.strange = append(list.strange, open)
		}
	}
	return list.openLanes
}
