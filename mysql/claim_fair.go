package mysql

import (
	"container/heap"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// weigh takes the lanes that tenants share by weight out of the line: the claim considers
// all of them, because which of them is first does not follow from their jobs.
func (c *claimer) weigh() (views []*laneView) {
	if c.fair == nil {
		return nil
	}
	c.line.busy = slices.DeleteFunc(c.line.busy, func(next candidate) bool {
		if !next.open.fair {
			return false
		}
		if view := c.viewNext(next); view != nil {
			views = append(views, view)
		}
		return true
	})
	heap.Init(&c.line.busy)
	return views
}

// noteShares records what tenants got of the starts that they share.
func (c *claimer) noteShares(jobs []*fairlead.Job) {
	if c.fair != nil {
		c.fair.Close(c.Solo, lanesOf(maps.Values(c.views)), jobs)
	}
}
