package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

const (
	// manyLanes is from how many lanes on a claim does not look into each.
	manyLanes = 256
	// headsAge is for how long it is believed what was seen of a lane, unless
	// there is news of it. What another process makes ready without its news
	// being heard is overlooked for so long.
	headsAge = time.Second
)

// heads remembers where the ready jobs of lanes begin, so that a claim need not
// look into thousands of lanes for a few jobs.
type heads struct {
	mu    sync.Mutex
	lanes []head // by id of lane
}

// head is where the jobs of a lane begin.
type head struct {
	known   bool
	touched bool         // there is news
	busy    bool         // it has jobs
	first   dispatch.Key // none of them comes before
	readAt  time.Time
}

// touch says that there is news of lanes.
func (h *heads) touch(lanes ...int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if int(lane) < len(h.lanes) { // of others nothing is known
			h.lanes[lane].touched = true
		}
	}
}

// touchAll says that there may be news of any lane.
func (h *heads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i].touched = true
	}
}

// part adds lanes that are known to have jobs to a list, and passes on those that
// have to be looked at. News that comes from now on is for the next claim.
func (h *heads) part(lanes []openLane, now time.Time, busy candidates, doubt func(*openLane)) candidates {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range lanes {
		lane := &lanes[i]
		if more := int(lane.id) + 1 - len(h.lanes); more > 0 {
			h.lanes = append(h.lanes, make([]head, more)...)
		}
		head := &h.lanes[lane.id]
		switch {
		case !head.known || head.touched || now.Sub(head.readAt) > headsAge:
			head.touched, head.known = false, false // another claim has to look too, until this one has
			doubt(lane)
		case head.busy:
			busy = append(busy, candidate{open: lane, from: head.first})
		}
	}
	return busy
}

// learn keeps what was seen of lanes as of some time.
func (h *heads) learn(lanes []*busyLane, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if int(lane.ID) < len(h.lanes) { // it was asked for among many
			head := &h.lanes[lane.ID]
			head.known, head.busy, head.first, head.readAt = true, !lane.All || len(lane.Keys) > 0, lane.begin(), now
		}
	}
}

// pass keeps where lanes begin after jobs were taken.
func (h *heads) pass(lanes []*busyLane, taken map[int64]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if int(lane.ID) >= len(h.lanes) || !h.lanes[lane.ID].known {
			continue
		}
		head := &h.lanes[lane.ID]
		left := slices.IndexFunc(lane.Keys, func(key dispatch.Key) bool { return !taken[key.ID] })
		switch {
		case left >= 0:
			head.first = lane.Keys[left]
		case lane.All:
			head.busy = false
		default:
			head.first = lane.rest()
		}
	}
}
