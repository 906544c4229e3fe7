package mysql

import (
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
)

// laneHeads remembers where the ready jobs of lanes begin, so that a claim need not
// read thousands of lanes for a few jobs.
type laneHeads struct {
	mu    sync.Mutex
	lanes []laneHead // by id of lane
}

// laneHead is where the jobs of a lane begin.
type laneHead struct {
	touches uint32       // how often the lane changed
	seen    uint32       // touches when the lane was read
	busy    bool         // it has jobs
	first   dispatch.Key // none of its jobs comes before this key
	readAt  time.Time    // zero: nothing is known
}

// laneSight is what a claim has seen of a lane.
type laneSight struct {
	lane    int32
	touches uint32 // of the head, before the claim read the lane
	busy    bool
	first   dispatch.Key
}

// touch records that lanes have changed.
func (h *laneHeads) touch(lanes map[int32]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for lane := range lanes {
		if int(lane) < len(h.lanes) { // nothing is remembered of other lanes
			h.lanes[lane].touches++
		}
	}
}

// touchAll records that any lane may have changed.
func (h *laneHeads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i].touches++
	}
}

// forget drops where lanes begin: their ids may now belong to other lanes.
func (h *laneHeads) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes { // claims in progress have indexes into the slice
		h.lanes[i] = laneHead{touches: h.lanes[i].touches + 1}
	}
}

// laneSplit holds lanes that are known to have jobs and lanes that have to be read.
// All others are known to have none.
type laneSplit struct {
	busy, uncertain candidates
	likely          int // how many of uncertain had jobs when they were last read
}

// split adds those of the lanes that are wanted to p. A touch from now on is for the
// next claim.
func (h *laneHeads) split(p *laneSplit, lanes []openLane, now time.Time, wanted func(*openLane) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range lanes {
		lane := &lanes[i]
		if !wanted(lane) {
			continue
		}
		if more := int(lane.ID) + 1 - len(h.lanes); more > 0 {
			h.lanes = append(h.lanes, make([]laneHead, more)...)
		}
		head := &h.lanes[lane.ID]
		c := candidate{open: lane, promised: lane.promised, touches: head.touches, from: head.first}
		switch {
		case head.seen != head.touches || now.Sub(head.readAt) > headsAge:
			p.uncertain = append(p.uncertain, c)
			if head.busy {
				p.likely++
			}
		case head.busy:
			p.busy = append(p.busy, c)
		}
	}
}

// learn keeps what a claim that began at a time has seen, unless a later claim was
// faster.
func (h *laneHeads) learn(sights []laneSight, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range sights {
		if head := &h.lanes[s.lane]; !began.Before(head.readAt) {
			head.seen, head.busy, head.first, head.readAt = s.touches, s.busy, s.first, began
		}
	}
}
