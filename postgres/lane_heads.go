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
	// manyKeys is how many jobs of a lane are remembered.
	manyKeys = 4
	// sharedFor is for how long they are not, after others were found to take
	// them.
	sharedFor = 5 * time.Second
)

// laneHeads remembers where the ready jobs of lanes begin, so that a claim need not
// look into thousands of lanes for a few jobs.
type laneHeads struct {
	mu     sync.Mutex
	lanes  []laneHead // by id of lane
	shared time.Time  // when others were last found to take the same jobs
	survey lastSurvey
}

// laneHead is where the jobs of a lane begin. Its version changes with everything
// that is learned of it: what a claim knows of an older one is not kept.
type laneHead struct {
	version uint64
	known   bool
	touched bool // there is news
	view    laneView
	readAt  time.Time
}

// share says that others take the jobs that are remembered.
func (h *laneHeads) share(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shared = now
}

// alone tells whether remembered jobs are probably still there.
func (h *laneHeads) alone(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.shared) > sharedFor
}

// touch says that there is news of lanes.
func (h *laneHeads) touch(lanes ...int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if int(lane) < len(h.lanes) { // of others nothing is known
			h.lanes[lane].touched = true
		}
	}
}

// touchAll says that there may be news of any lane.
func (h *laneHeads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i].touched = true
	}
}

// forget drops all that is remembered. Claims that are under way find that it is not
// what they have seen.
func (h *laneHeads) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i] = laneHead{version: h.lanes[i].version + 1}
	}
}

// part adds lanes that are known to have jobs to a list, and those that have to be
// looked at to another. News that comes from now on is for the next claim.
func (h *laneHeads) part(lanes []openLane, now time.Time, busy candidates, doubts []uncertainLane) (candidates, []uncertainLane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range lanes {
		lane := &lanes[i]
		if more := int(lane.id) + 1 - len(h.lanes); more > 0 {
			h.lanes = append(h.lanes, make([]laneHead, more)...)
		}
		head := &h.lanes[lane.id]
		switch {
		case !head.known || head.touched || now.Sub(head.readAt) > headsAge:
			head.touched, head.known = false, false // another claim has to look too, until this one has
			head.version++
			doubts = append(doubts, uncertainLane{open: lane, version: head.version, likely: !head.view.empty()})
		case !head.view.empty():
			busy = append(busy, candidate{open: lane, version: head.version, view: head.view, from: head.view.begin()})
		}
	}
	return busy, doubts
}

// learn keeps what was seen of lanes as of some time.
func (h *laneHeads) learn(lanes []*busyLane, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if head := h.current(lane); head != nil {
			head.known, head.readAt = true, now
			h.keep(head, lane, lane.view())
		}
	}
}

// pass keeps what is left of lanes after jobs were taken.
func (h *laneHeads) pass(lanes []*busyLane, taken map[int64]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if head := h.current(lane); head != nil && head.known {
			left := slices.DeleteFunc(slices.Clone(lane.Keys), func(key dispatch.Key) bool { return taken[key.ID] })
			h.keep(head, lane, laneView{keys: left, unread: lane.unread})
		}
	}
}

// current is the head that a claim has seen the lane by. If it is not that any
// more, another claim was at work in the lane, and it has to be looked at again.
func (h *laneHeads) current(lane *busyLane) *laneHead {
	head := &h.lanes[lane.ID]
	if head.version != lane.version {
		head.touched = true
		return nil
	}
	return head
}

// keep remembers a view. If jobs were passed over that others had at that moment,
// it is not believed for long.
func (h *laneHeads) keep(head *laneHead, lane *busyLane, view laneView) {
	head.version++
	lane.version = head.version
	head.view = view
	head.touched = head.touched || lane.passedOver
}
