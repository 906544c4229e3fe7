package postgres

import (
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openLane is a lane that is not paused.
type openLane struct {
	id      int32
	kind    string
	hold    *hold // nil: nothing
	strange bool  // the claim does not serve it

	// Only of one claim, where all lanes are looked into:
	room   int
	outset outset
}

func (l *openLane) limited() bool { return l.hold != nil }

// openLanes are those of a scope under rules that do not change, so that claims
// need not go through thousands of lanes to find out.
type openLanes struct {
	lanes   []openLane
	limited bool // some of them are
}

type openList struct {
	mu sync.Mutex
	openLanes
	seen int // of the served lanes
}

// openLanes lists the served lanes that are not paused. Callers must not change
// it.
func (r *rules) openLanes(scope *fairlead.Scope, served []sqlstore.Lane) openLanes {
	entry, ok := r.open.Load(scope)
	if !ok {
		entry, _ = r.open.LoadOrStore(scope, &openList{})
	}
	list := entry.(*openList)
	list.mu.Lock()
	defer list.mu.Unlock()
	for ; list.seen < len(served); list.seen++ {
		lane := served[list.seen]
		if !r.Paused(lane.LaneKey) {
			hold := r.hold(lane)
			list.lanes = append(list.lanes, openLane{id: lane.ID, kind: lane.Kind, hold: hold})
			list.limited = list.limited || hold != nil
		}
	}
	return list.openLanes
}
