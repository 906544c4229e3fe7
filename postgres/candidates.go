package postgres

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// candidate is a lane that probably has jobs. There may be tens of thousands of
// them, of which a claim considers the first few.
type candidate struct {
	open     *openLane
	version  uint64           // of the head that it was seen by
	view     laneView         // what is known of its jobs
	from     dispatch.Key     // none of them comes before
	promised bool             // its tenant has a minimum
	others   *dispatch.Others // who runs its jobs, if this claim does not serve it
}

// compare orders candidates: those with a minimum, then by their first job.
func (c *candidate) compare(other *candidate) int {
	switch {
	case c.promised && !other.promised:
		return -1
	case other.promised && !c.promised:
		return 1
	}
	return c.from.Compare(other.from)
}

// candidates is a heap of them.
type candidates []candidate

func (c candidates) Len() int           { return len(c) }
func (c candidates) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool { return c[i].compare(&c[j]) < 0 }

// Push and Pop are part of heap.Interface; first does without them.

// Push implements heap.Interface.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// first takes the first of them out.
func (c *candidates) first() candidate {
	first, last := (*c)[0], len(*c)-1
	(*c)[0] = (*c)[last]
	*c = (*c)[:last]
	if last > 0 {
		heap.Fix(c, 0)
	}
	return first
}

// lines are used again: with thousands of lanes they are most of what a claim
// would leave to the garbage collector.
var lines = sync.Pool{New: func() any { return new(candidates) }}

// promised tells whether the lane's tenant has a minimum.
func (l *limitedClaim) promised(open *openLane) bool {
	return open.limited() && open.hold.tenant != 0 && l.known.Quotas[open.hold.tenant].Min > 0
}

// begin makes a lane ready to be read.
func (l *limitedClaim) begin(open *openLane, now time.Time) *busyLane {
	own := *open
	own.outset = l.laneCursors.begin(cursorLane{open.id, l.claim.Solo && !open.strange}, now)
	return newBusyLane(own, unseenView(&own))
}

// resume makes a lane of a candidate. Unless its jobs are remembered everything
// is read once more, under the locks of its quotas. So are jobs that this claim
// does not take itself: that they are gone would not show.
func (l *limitedClaim) resume(c candidate, now time.Time) *busyLane {
	var lane *busyLane
	switch {
	case l.trusting && !c.open.strange:
		own := *c.open
		own.outset = claimStart{lane: cursorLane{lane: own.id}, memory: true}
		known := slices.DeleteFunc(slices.Clone(c.view.keys), func(key dispatch.Key) bool { return l.locked[key.ID] })
		lane = newBusyLane(own, laneView{keys: known, unread: c.view.unread})
		lane.passedOver = len(known) < len(c.view.keys)
	case l.many:
		lane = l.begin(c.open, now)
	default: // where to begin was found out just now
		lane = newBusyLane(*c.open, unseenView(c.open))
	}
	lane.version = c.version
	lane.From, lane.others, lane.Others = c.from, c.others, c.others
	return lane
}
