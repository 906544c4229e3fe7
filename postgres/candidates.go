package postgres

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// candidate is a lane that probably has jobs. There may be tens of thousands of
// candidates; a claim considers the first few.
type candidate struct {
	open     *openLane
	version  uint64           // of the lane head it was seen by
	view     laneView         // what is known about its jobs
	from     dispatch.Key     // none of its jobs comes before this key
	promised bool             // its tenant has a minimum
	share    *dispatch.Share  // of its tenant, if tenants share the starts of its queue
	others   *dispatch.Others // the nodes that run its jobs, if this claim does not serve the lane
}

// compare orders candidates: lanes of tenants with a minimum first, then by first job.
func (c *candidate) compare(other *candidate) int {
	switch {
	case c.promised && !other.promised:
		return -1
	case other.promised && !c.promised:
		return 1
	}
	return c.from.Compare(other.from)
}

// candidates is a heap of candidates.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool { return c[i].compare(&c[j]) < 0 }

// Push and Pop are part of heap.Interface; first does not use them.

// Push implements heap.Interface.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// first removes the first candidate and returns it.
func (c *candidates) first() candidate {
	first, last := (*c)[0], len(*c)-1
	(*c)[0] = (*c)[last]
	*c = (*c)[:last]
	if last > 0 {
		heap.Fix(c, 0)
	}
	return first
}

// lines pools candidate slices: with thousands of lanes they are most of the garbage
// that a claim would produce.
var lines = sync.Pool{New: func() any { return new(candidates) }}

// promised reports whether the lane's tenant has a minimum.
func (l *limitedClaim) promised(open *openLane) bool {
	return open.limited() && open.hold.tenant != 0 && l.known.ByID[open.hold.tenant].Min > 0
}

// begin prepares a lane for reading.
func (l *limitedClaim) begin(open *openLane, now time.Time) *busyLane {
	own := *open
	own.outset = l.laneCursors.begin(cursorLane{open.id, l.claim.Solo && !open.foreign}, now)
	return newBusyLane(own, unseenView(&own))
}

// resume turns a candidate into a lane that can be read. Unless the lane's jobs are
// remembered, the claim reads all of them again under the locks of the lane's limits.
// It also reads again the jobs of foreign lanes: this claim does not take them, so it
// would not notice that they are gone.
func (l *limitedClaim) resume(c candidate, now time.Time) *busyLane {
	var lane *busyLane
	switch {
	case l.trusting && !c.open.foreign:
		own := *c.open
		own.outset = claimStart{lane: cursorLane{lane: own.id}, memory: true}
		known := slices.DeleteFunc(slices.Clone(c.view.keys), func(key dispatch.Key) bool { return l.locked[key.ID] })
		lane = newBusyLane(own, laneView{keys: known, unread: c.view.unread})
		lane.passedOver = len(known) < len(c.view.keys)
	case l.many:
		lane = l.begin(c.open, now)
	default: // the position was read just now
		lane = newBusyLane(*c.open, unseenView(c.open))
	}
	lane.version = c.version
	lane.From, lane.others, lane.Others = c.from, c.others, c.others
	lane.share, lane.Share = c.share, c.share
	return lane
}
