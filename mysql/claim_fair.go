package mysql

import (
	"container/heap"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// weigh takes the lanes of tenants that share starts by weight out of the queue.
//
// The queue is sorted by the first jobs of the lanes. Where tenants share starts, the next lane
// depends on the past starts of the tenants instead, so the claim must consider all of these
// lanes. If there are very many, it considers first those whose tenants have had least. Rests
// stand for the others in the choice, and dispatch asks for a rest if the choice depends on it.
func (c *claimer) weigh(n int) []*laneView {
	if c.fair == nil {
		return nil
	}
	line := c.laneQueue
	line.busy = slices.DeleteFunc(line.busy, func(next candidate) bool {
		if next.open.fair {
			next.share = c.fair.Share(next.open.LaneKey)
			line.unweighed = append(line.unweighed, next)
		}
		return next.open.fair
	})
	heap.Init(&line.busy)
	most := max(2*n, manyLanes)
	if line.shared != nil { // a choice has asked for the rest
		most = len(line.unweighed)
	}
	if len(line.unweighed) > most {
		slices.SortFunc(line.unweighed, byShare)
	}
	return c.weighFirst(min(most, len(line.unweighed)))
}

// byShare orders candidates: lanes of tenants with a minimum first, then by share.
func byShare(a, b candidate) int {
	if a.promised != b.promised {
		return a.compare(&b)
	}
	return dispatch.ByShare(a.share, a.from, b.share, b.from)
}

// weighFirst prepares the first of the lanes that tenants share for reading.
func (c *claimer) weighFirst(n int) (views []*laneView) {
	line := c.laneQueue
	line.shared = dispatch.Rests{}
	for _, next := range line.unweighed[:n] {
		line.shared.Read(next.share)
		if view := c.viewNext(next); view != nil {
			views = append(views, view)
		}
	}
	line.unweighed = line.unweighed[n:]
	for _, next := range line.unweighed {
		line.shared.Add(next.share, next.from)
	}
	return views
}

// noteShares records what tenants got of the starts that they share.
func (c *claimer) noteShares(jobs []*fairlead.Job) {
	if c.fair != nil {
		c.fair.Close(c.Solo, lanesOf(maps.Values(c.views)), jobs)
	}
}

// withoutParties returns what may be taken of picks, which are in order, although the
// first n are left: the jobs of other tenants that share starts with those of the first,
// down to the same priority. Tenants that are left have had less than their share then,
// and go first in the next claim.
func withoutParties(picks []dispatch.Pick, n int) []dispatch.Pick {
	if n == 0 {
		return picks
	}
	left := map[*dispatch.Share]bool{}
	for _, pick := range picks[:n] {
		if pick.Lane.Share == nil || pick.Lane.Tenant != nil {
			return nil // earlier jobs go first, and so do tenants below their minimum
		}
		left[pick.Lane.Share] = true
	}
	turn := picks[0].Turn
	return slices.DeleteFunc(slices.Clone(picks[n:]), func(pick dispatch.Pick) bool {
		return pick.Lane.Share == nil || left[pick.Lane.Share] || pick.Turn > turn
	})
}
