package mysql

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// fewLanes are considered at once even if fewer jobs are asked for.
const fewLanes = 16

// laneLine is the lanes that a claim from many has before it: those that probably
// have jobs and were not considered yet.
type laneLine struct {
	*laneSplit
	heads      *laneHeads
	began      time.Time
	open       *openLanes
	most       int        // jobs that can be taken out of it
	considered int        // lanes that were in it before
	aside      candidates // lanes of kinds that there is no room for, after what was chosen
}

// none tells whether there is no lane in it.
func (l *laneLine) none() bool { return l == nil || len(l.busy) == 0 }

// takeLinedUp takes jobs out of many lanes. It finds the lanes that probably
// have jobs, most of them by what is remembered, and considers the first of
// them.
func (c *claimer) takeLinedUp(ctx context.Context, open openLanes) error {
	p := partings.Get().(*laneSplit)
	defer partings.Put(p)
	p.busy, p.doubts, p.likely = p.busy[:0], p.doubts[:0], 0
	c.line = &laneLine{laneSplit: p, heads: &c.laneHeads, began: time.Now(), open: &open}
	if c.Solo {
		c.line.heads = &laneHeads{} // suspects are so rare that nothing is remembered of them
	}
	c.line.heads.part(p, open.own, c.line.began, c.roomy)
	if !c.Solo && open.limited && len(open.strange) > 0 {
		if err := c.readOtherNodes(ctx); err != nil {
			return err
		}
		if c.strangers.Any() {
			c.line.heads.part(p, open.strange, c.line.began, func(*openLane) bool { return true })
		}
	}
	if err := c.resolveDoubts(ctx); err != nil {
		return err
	}
	vowed := 0
	for i := range p.busy {
		if p.busy[i].promised {
			vowed++
		}
	}
	heap.Init(&p.busy)
	if err := c.estimateCommon(ctx); err != nil {
		return err
	}
	if err := c.consider(ctx, vowed+max(c.line.most, fewLanes)); err != nil {
		return err
	}
	return c.takeChosen(ctx)
}

// estimateCommon finds out how many jobs can be taken in all: limits that all
// lanes are under may leave far fewer than there is room for.
func (c *claimer) estimateCommon(ctx context.Context) error {
	c.line.most = c.rooms.left
	if c.line.none() {
		return nil
	}
	if err := c.estimate(ctx, c.line.open.common); err != nil {
		return err
	}
	for _, id := range c.line.open.common {
		common := c.quotas[id]
		c.line.most = min(c.line.most, common.Room())
		if common.Full() { // whoever gives back a slot of it wakes the nodes
			c.line.busy = c.line.busy[:0]
		}
	}
	return nil
}

// roomy tells whether the node has room for a job of the lane.
func (c *claimer) roomy(lane *openLane) bool {
	return len(c.rooms.kinds) == 0 || c.rooms.of(lane.Kind) > 0
}

// resolveDoubts looks where the lanes begin of which that is not known. If few
// of them had jobs when they were last seen, it pays to ask first which lanes
// hold anything.
func (c *claimer) resolveDoubts(ctx context.Context) error {
	doubts := c.line.doubts
	sights := make([]laneSight, 0, len(doubts))
	if len(doubts) > manyLanes && 2*(len(c.line.busy)+c.line.likely) < len(doubts) {
		holding, err := c.holdingLanes(ctx)
		if err != nil {
			return err
		}
		asked := doubts[:0]
		for _, doubt := range doubts {
			if _, holds := holding[doubt.open.ID]; holds {
				asked = append(asked, doubt)
			} else {
				sights = append(sights, doubt.sight())
			}
		}
		doubts = asked
	}
	lanes := make([]int32, len(doubts))
	for i := range doubts {
		lanes[i] = doubts[i].open.ID
	}
	err := c.readFronts(ctx, c.sql.LaneFirsts, 1, lanes, func(i int, first []dispatch.Key) {
		found := doubts[i].sight()
		if len(first) > 0 {
			found.busy, found.first = true, first[0]
			doubts[i].from = first[0]
			c.line.busy = append(c.line.busy, doubts[i])
		}
		sights = append(sights, found)
	})
	c.line.heads.learn(sights, c.line.began)
	return err
}

// consider takes the next lanes out of the line and looks at them, without those
// that are known to be full.
func (c *claimer) consider(ctx context.Context, n int) error {
	lot := make([]*laneView, 0, min(n, len(c.line.busy)))
	for len(lot) < n && len(c.line.busy) > 0 {
		next := c.line.busy.first()
		if c.full(next.open) {
			continue
		}
		var others *dispatch.Others
		if next.open.strange {
			if others = c.strangers.Of(next.open.LaneKey); others == nil {
				continue
			}
		}
		view := c.addView(next.open)
		view.From, view.Others, view.news = next.from, others, next.news
		lot = append(lot, view)
	}
	c.line.considered += len(lot)
	if len(lot) == 0 || c.alone() { // the server finds the first jobs of the only lane
		return nil
	}
	each := 2 * c.line.most / len(lot)
	if each <= frontSize {
		return c.look(ctx, lot, frontSize)
	}
	return c.look(ctx, lot, max(each, leastPerLane))
}

// anyKind is the kind of a lane that stands for lanes of all kinds.
const anyKind = ""

// rests stand for the lanes that were not considered yet: none of their jobs
// comes before theirs. If there is only so much room for some kinds, there is one
// for each kind, so that lanes need not be considered that there is no room for.
func (c *claimer) rests() []*dispatch.Lane {
	if c.line.none() {
		return nil
	}
	var limits []*dispatch.Limit
	for _, id := range c.line.open.common {
		limits = append(limits, &c.quotas[id].Limit)
	}
	kinds := c.line.open.kinds
	if len(c.rooms.kinds) == 0 || c.strangers != nil {
		kinds = []string{anyKind}
	}
	rests := make([]*dispatch.Lane, len(kinds))
	for i, kind := range kinds {
		rests[i] = &dispatch.Lane{Kind: kind, From: c.line.busy[0].from, Limits: limits}
	}
	return rests
}

// setAside takes the lanes out that none of the rests stands for.
func (l *laneLine) setAside(rests []*dispatch.Lane) {
	for _, rest := range rests {
		if rest.Kind == anyKind {
			return
		}
	}
	l.busy = slices.DeleteFunc(l.busy, func(c candidate) bool {
		if slices.ContainsFunc(rests, func(rest *dispatch.Lane) bool { return rest.Kind == c.open.Kind }) {
			return false
		}
		l.aside = append(l.aside, c)
		return true
	})
	heap.Init(&l.busy)
}

// lineUpAgain brings lanes back that there was no room for, now that others have
// what was chosen instead.
func (l *laneLine) lineUpAgain() {
	if l != nil && len(l.aside) > 0 {
		l.busy, l.aside = append(l.busy, l.aside...), nil
		heap.Init(&l.busy)
	}
}

// leaveRests is told when no other lanes can be considered any more.
func (c *claimer) leaveRests() {
	if !c.line.none() {
		c.missed = true
		c.line.busy = c.line.busy[:0]
	}
}

// remember keeps where the lanes begin that were considered, once what was taken
// of them is gone for good. What others may have locked is still there for all
// that is known: then what is remembered stays.
func (c *claimer) remember() {
	if c.line == nil {
		return
	}
	for _, t := range c.taken {
		view := c.views[t.lane]
		if key := t.key(); view.From.Compare(key) < 0 {
			view.From = key
		}
	}
	sights := make([]laneSight, 0, len(c.views))
	for _, view := range c.views {
		if !view.read || view.lost {
			continue
		}
		found := laneSight{lane: view.ID, news: view.news, busy: !view.empty(), first: view.From}
		if len(view.Keys) > 0 {
			found.first = view.Keys[0]
		}
		sights = append(sights, found)
	}
	c.line.heads.learn(sights, c.line.began)
}
