package postgres

import (
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

const (
	// manyLanes is the number of lanes above which a claim does not read each of them.
	manyLanes = 256
	// headsAge is how long a claim trusts what was seen of a lane, unless a wake names
	// the lane. Jobs that another process makes ready are overlooked for this long if
	// its wake is lost.
	headsAge = time.Second
	// manyKeys is how many jobs of a lane are remembered.
	manyKeys = 4
	// sharedFor is how long jobs are not remembered after other processes were found to
	// take them.
	sharedFor = 5 * time.Second
)

// laneHeads remembers where the ready jobs of lanes begin, so that a claim need not
// read thousands of lanes for a few jobs.
type laneHeads struct {
	mu     sync.Mutex
	lanes  []laneHead // by id of lane
	shared time.Time  // when another process was last found to take the same jobs
	survey lastSurvey
}

// laneHead is where the jobs of a lane begin. Its version changes with everything that
// is learned about it; what a claim knows from an older version is not kept.
type laneHead struct {
	version uint64
	known   bool
	touched bool // a wake named the lane since it was read
	view    laneView
	readAt  time.Time
}

// share records that other processes take the remembered jobs.
func (h *laneHeads) share(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shared = now
}

// alone reports whether remembered jobs are probably still there.
func (h *laneHeads) alone(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.shared) > sharedFor
}

// touch records that lanes have changed.
func (h *laneHeads) touch(lanes ...int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		if int(lane) < len(h.lanes) { // nothing is remembered of other lanes
			h.lanes[lane].touched = true
		}
	}
}

// touchAll records that any lane may have changed.
func (h *laneHeads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i].touched = true
	}
}

// forget drops everything remembered. Claims in progress notice it by the version.
func (h *laneHeads) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i] = laneHead{version: h.lanes[i].version + 1}
	}
}

// split adds lanes that are known to have jobs to busy, and lanes that have to be read
// to uncertain. A touch from now on is for the next claim.
func (h *laneHeads) split(lanes []openLane, now time.Time, busy candidates, uncertain []uncertainLane) (candidates, []uncertainLane) {
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
			head.touched, head.known = false, false // other claims have to read it too, until this one has
			head.version++
			uncertain = append(uncertain, uncertainLane{open: lane, version: head.version, likely: !head.view.empty()})
		case !head.view.empty():
			busy = append(busy, candidate{open: lane, version: head.version, view: head.view, from: head.view.begin()})
		}
	}
	return busy, uncertain
}

// learn keeps what was seen of lanes at a time.
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

// current returns the head that the claim has seen the lane by, or nil if another claim
// has changed it since. The lane then has to be read again.
func (h *laneHeads) current(lane *busyLane) *laneHead {
	head := &h.lanes[lane.ID]
	if head.version != lane.version {
		head.touched = true
		return nil
	}
	return head
}

// keep remembers a view. It is trusted only briefly if the claim passed over jobs that
// other transactions had locked.
func (h *laneHeads) keep(head *laneHead, lane *busyLane, view laneView) {
	head.version++
	lane.version = head.version
	head.view = view
	head.touched = head.touched || lane.passedOver
}
