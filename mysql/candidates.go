package mysql

import (
	"container/heap"
	"sync"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// candidate is a lane that probably has jobs. There may be tens of thousands of
// candidates; a claim considers the first few.
type candidate struct {
	open     *openLane
	from     dispatch.Key    // none of its jobs comes before this key
	touches  uint32          // of the lane's head when the claim began
	promised bool            // its tenant has a minimum
	share    *dispatch.Share // of its tenant, if tenants share the starts of its queue
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

// sight returns the sight of an empty lane; the caller fills in the jobs it finds.
func (c *candidate) sight() laneSight { return laneSight{lane: c.open.ID, touches: c.touches} }

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

// splits pools splitLanes: with thousands of lanes they are most of the garbage that a
// claim would produce.
var splits = sync.Pool{New: func() any { return new(laneSplit) }}
