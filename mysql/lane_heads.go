package mysql

import (
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

// laneHeads remembers where the ready jobs of lanes begin, so that a claim need not
// look into thousands of lanes for a few jobs.
type laneHeads struct {
	mu    sync.Mutex
	lanes []laneHead // by id of lane
}

// laneHead is where the jobs of a lane begin.
type laneHead struct {
	news   uint32       // how often there was news
	seen   uint32       // how often there had been when it was read
	busy   bool         // it has jobs
	first  dispatch.Key // none of them comes before
	readAt time.Time    // zero: nothing is known
}

// laneSight is what a claim has seen of a lane.
type laneSight struct {
	lane  int32
	news  uint32 // of which the claim knew before it looked
	busy  bool
	first dispatch.Key
}

// touch says that there is news of lanes.
func (h *laneHeads) touch(lanes map[int32]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for lane := range lanes {
		if int(lane) < len(h.lanes) { // of others nothing is known
			h.lanes[lane].news++
		}
	}
}

// touchAll says that there may be news of any lane.
func (h *laneHeads) touchAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes {
		h.lanes[i].news++
	}
}

// forget forgets where lanes begin: their ids may be those of others.
func (h *laneHeads) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.lanes { // what goes on has indexes into it
		h.lanes[i] = laneHead{news: h.lanes[i].news + 1}
	}
}

// laneSplit is lanes parted into those that are known to have jobs and those that
// have to be looked at. The others are known to have none.
type laneSplit struct {
	busy, doubts candidates
	likely       int // how many of doubts had jobs when they were last seen
}

// part parts those of the lanes that are wanted, as of now. News that comes from
// then on is for the next claim.
func (h *laneHeads) part(p *laneSplit, lanes []openLane, now time.Time, wanted func(*openLane) bool) {
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
		c := candidate{open: lane, promised: lane.promised, news: head.news, from: head.first}
		switch {
		case head.seen != head.news || now.Sub(head.readAt) > headsAge:
			p.doubts = append(p.doubts, c)
			if head.busy {
				p.likely++
			}
		case head.busy:
			p.busy = append(p.busy, c)
		}
	}
}

// learn keeps what a claim that began at some time has seen, unless a later one
// was faster.
func (h *laneHeads) learn(sights []laneSight, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range sights {
		if head := &h.lanes[s.lane]; !began.Before(head.readAt) {
			head.seen, head.busy, head.first, head.readAt = s.news, s.busy, s.first, began
		}
	}
}
