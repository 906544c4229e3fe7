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
	mu      sync.Mutex
	lanes   map[int32]head
	touched map[int32]bool // lanes with news
	all     bool           // there is news of any lane
}

// head is where the jobs of a lane begin.
type head struct {
	busy   bool         // it has jobs
	first  dispatch.Key // none of them comes before
	readAt time.Time
}

func newHeads() *heads { return &heads{lanes: map[int32]head{}, touched: map[int32]bool{}} }

// touch says that there is news of lanes.
func (h *heads) touch(lanes ...int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		h.touched[lane] = true
	}
}

// touchAll says that there may be news of any lane.
func (h *heads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = true
}

// part divides lanes into those that have to be looked at and those that are
// known to have jobs, with where these begin. News that comes from now on is for
// the next claim.
func (h *heads) part(open []openLane, now time.Time) (doubtful, busy []openLane, first []dispatch.Key) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all {
		clear(h.lanes)
		clear(h.touched)
		h.all = false
	}
	for _, lane := range open {
		known, ok := h.lanes[lane.id]
		switch {
		case !ok || h.touched[lane.id] || now.Sub(known.readAt) > headsAge:
			delete(h.touched, lane.id)
			delete(h.lanes, lane.id) // another claim has to look too, until this one has
			doubtful = append(doubtful, lane)
		case known.busy:
			busy, first = append(busy, lane), append(first, known.first)
		}
	}
	return doubtful, busy, first
}

// learn keeps what was seen of lanes as of some time.
func (h *heads) learn(lanes []*busyLane, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		h.lanes[lane.ID] = head{busy: !lane.All || len(lane.Keys) > 0, first: lane.begin(), readAt: now}
	}
}

// pass keeps where lanes begin after jobs were taken.
func (h *heads) pass(lanes []*busyLane, taken map[int64]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		known, ok := h.lanes[lane.ID]
		if !ok {
			continue
		}
		left := slices.IndexFunc(lane.Keys, func(key dispatch.Key) bool { return !taken[key.ID] })
		switch {
		case left >= 0:
			known.first = lane.Keys[left]
		case lane.All:
			known.busy = false
		default:
			known.first = lane.rest()
		}
		h.lanes[lane.ID] = known
	}
}
