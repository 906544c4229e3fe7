package mysql

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// fewLanes is the least number of lanes considered at once, even if fewer jobs are
// asked for.
const fewLanes = 16

// laneQueue is the queue of lanes for a claim from many: lanes that probably have jobs
// and have not been considered yet.
type laneQueue struct {
	*laneSplit
	heads      *laneHeads
	began      time.Time
	open       *openLanes
	most       int        // how many jobs can be taken in all
	considered int        // how many lanes were taken out of the queue
	aside      candidates // lanes of kinds without room, given what was chosen

	unweighed candidates     // lanes that tenants share by weight and that were not considered yet
	shared    dispatch.Rests // that stand for them
}

// none reports whether the queue is empty.
func (l *laneQueue) none() bool { return l == nil || len(l.busy)+len(l.unweighed) == 0 }

// takeFromMany takes jobs from many lanes. It finds the lanes that probably have jobs,
// most of them from memory, and considers the first of them.
func (c *claimer) takeFromMany(ctx context.Context, open openLanes) error {
	p := splits.Get().(*laneSplit)
	defer splits.Put(p)
	p.busy, p.uncertain, p.likely = p.busy[:0], p.uncertain[:0], 0
	c.laneQueue = &laneQueue{laneSplit: p, heads: &c.laneHeads, began: time.Now(), open: &open}
	if c.Solo {
		c.laneQueue.heads = &laneHeads{} // suspects are so rare that nothing is remembered of them
	}
	c.laneQueue.heads.split(p, open.own, c.laneQueue.began, c.roomy)
	if !c.Solo && open.limited && len(open.foreign) > 0 {
		if err := c.readOtherNodes(ctx); err != nil {
			return err
		}
		if c.otherNodes.Any() {
			c.laneQueue.heads.split(p, open.foreign, c.laneQueue.began, func(*openLane) bool { return true })
		}
	}
	if err := c.resolveUncertain(ctx); err != nil {
		return err
	}
	guaranteed := 0
	for i := range p.busy {
		if p.busy[i].promised {
			guaranteed++
		}
	}
	heap.Init(&p.busy)
	if err := c.estimateCommon(ctx); err != nil {
		return err
	}
	if err := c.consider(ctx, guaranteed+max(c.laneQueue.most, fewLanes)); err != nil {
		return err
	}
	return c.takeChosen(ctx)
}

// estimateCommon estimates how many jobs can be taken in all: limits that all lanes
// count against may leave far fewer than there is room for.
func (c *claimer) estimateCommon(ctx context.Context) error {
	c.laneQueue.most = c.rooms.left
	if c.laneQueue.none() {
		return nil
	}
	if err := c.estimate(ctx, c.laneQueue.open.common); err != nil {
		return err
	}
	for _, id := range c.laneQueue.open.common {
		common := c.limits[id]
		c.laneQueue.most = min(c.laneQueue.most, common.Room())
		if common.Full() { // the call that gives back a slot wakes the nodes
			c.laneQueue.busy = c.laneQueue.busy[:0]
		}
	}
	return nil
}

// roomy reports whether the node has room for a job of the lane.
func (c *claimer) roomy(lane *openLane) bool {
	return len(c.rooms.kinds) == 0 || c.rooms.of(lane.Kind) > 0
}

// resolveUncertain reads where the uncertain lanes begin. If few of them had jobs when
// they were last read, it pays to ask first which lanes hold jobs.
func (c *claimer) resolveUncertain(ctx context.Context) error {
	uncertain := c.laneQueue.uncertain
	sights := make([]laneSight, 0, len(uncertain))
	if len(uncertain) > manyLanes && 2*(len(c.laneQueue.busy)+c.laneQueue.likely) < len(uncertain) {
		holding, err := c.holdingLanes(ctx)
		if err != nil {
			return err
		}
		asked := uncertain[:0]
		for _, lane := range uncertain {
			if _, holds := holding[lane.open.ID]; holds {
				asked = append(asked, lane)
			} else {
				sights = append(sights, lane.sight())
			}
		}
		uncertain = asked
	}
	lanes := make([]int32, len(uncertain))
	for i := range uncertain {
		lanes[i] = uncertain[i].open.ID
	}
	err := c.readFronts(ctx, c.sql.LaneFirsts, 1, lanes, func(i int, first []dispatch.Key) {
		found := uncertain[i].sight()
		if len(first) > 0 {
			found.busy, found.first = true, first[0]
			uncertain[i].from = first[0]
			c.laneQueue.busy = append(c.laneQueue.busy, uncertain[i])
		}
		sights = append(sights, found)
	})
	c.laneQueue.heads.learn(sights, c.laneQueue.began)
	return err
}

// consider takes the next lanes out of the queue and reads them, except those that are
// known to be full.
func (c *claimer) consider(ctx context.Context, n int) error {
	lot := c.weigh(n)
	for n += len(lot); len(lot) < n && len(c.laneQueue.busy) > 0; {
		if view := c.viewNext(c.laneQueue.busy.first()); view != nil {
			lot = append(lot, view)
		}
	}
	c.laneQueue.considered += len(lot)
	if len(lot) == 0 || c.alone() { // the server finds the first jobs of the only lane
		return nil
	}
	each := 2 * c.laneQueue.most / len(lot)
	if each <= frontSize {
		return c.look(ctx, lot, frontSize)
	}
	return c.look(ctx, lot, max(each, leastPerLane))
}

// viewNext prepares a lane for reading, unless it is known to be full or no node can run
// its jobs.
func (c *claimer) viewNext(next candidate) *laneView {
	if c.full(next.open) {
		return nil
	}
	var others *dispatch.Others
	if next.open.foreign {
		if others = c.otherNodes.Of(next.open.LaneKey); others == nil {
			return nil
		}
	}
	view := c.addView(next.open)
	view.From, view.Others, view.touches = next.from, others, next.touches
	return view
}

// anyKind is the kind of a lane that stands for lanes of all kinds.
const anyKind = ""

// rests returns lanes that stand for those that have not been considered yet: none of
// their jobs comes before its first key. If the room of some kinds is bounded, there is
// one for each kind, so that the claim need not consider lanes of kinds without room.
func (c *claimer) rests() []*dispatch.Lane {
	if c.laneQueue.none() {
		return nil
	}
	if len(c.laneQueue.busy) == 0 {
		return c.laneQueue.shared.Append(nil)
	}
	var limits []*dispatch.Limit
	for _, id := range c.laneQueue.open.common {
		limits = append(limits, &c.limits[id].Limit)
	}
	kinds := c.laneQueue.open.kinds
	if len(c.rooms.kinds) == 0 || c.otherNodes != nil {
		kinds = []string{anyKind}
	}
	rests := make([]*dispatch.Lane, len(kinds))
	for i, kind := range kinds {
		rests[i] = &dispatch.Lane{Kind: kind, From: c.laneQueue.busy[0].from, Limits: limits}
	}
	return c.laneQueue.shared.Append(rests)
}

// setAside removes the lanes that none of the rests stands for.
func (l *laneQueue) setAside(rests []*dispatch.Lane) {
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

// restore brings lanes back that there was no room for, because other transactions
// have taken what was chosen instead.
func (l *laneQueue) restore() {
	if l != nil && len(l.aside) > 0 {
		l.busy, l.aside = append(l.busy, l.aside...), nil
		heap.Init(&l.busy)
	}
}

// leaveRests ends the consideration of further lanes.
func (c *claimer) leaveRests() {
	if !c.laneQueue.none() {
		c.missed = true
		c.laneQueue.busy, c.laneQueue.unweighed, c.laneQueue.shared = c.laneQueue.busy[:0], nil, nil
	}
}

// remember keeps where the considered lanes begin, once the claim has committed. A lane
// of which other transactions may have locked jobs keeps its old memory: those jobs may
// still be there.
func (c *claimer) remember() {
	if c.laneQueue == nil {
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
		found := laneSight{lane: view.ID, touches: view.touches, busy: !view.empty(), first: view.From}
		if len(view.Keys) > 0 {
			found.first = view.Keys[0]
		}
		sights = append(sights, found)
	}
	c.laneQueue.heads.learn(sights, c.laneQueue.began)
}
