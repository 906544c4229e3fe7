package dispatch

import "container/heap"

// group contains the lanes of a share during a choice. Groups form a tree: a scope has
// families as its parts, a family has tenants, and a tenant has lanes. Each level is a heap, so
// the next job of the scope is found by following the first part down to the first lane.
//
// To take a job, merge calls charge, which counts the start on all levels, and then change or
// drop, which sort all levels again from the tenant up.
//
// The first job of a group belongs to one of the parts whose next job has the highest
// priority: the part that has had the least for its weight. For a tenant it is the job with
// the first key. So a whole scope competes with other lanes by the key of a single job.
//
// The first lane of a group of several parts can start a job: see forget.
type group struct {
	share *Share
	cost  float64 // cost of a start
	got   int     // starts that this choice has given to the share
	parts parts
	lanes places

	// For scopes, see forget.
	mixed []*group            // parts that had several parts themselves when the choice began
	under map[*Limit][]*group // groups in mixed with lanes under a limit; nil = not computed yet
}

// had returns the past starts of the share, including those of this choice.
func (g *group) had() float64 { return g.share.Had + float64(g.got)*g.cost }

// first returns the place of the group's next job.
func (g *group) first() place {
	for len(g.parts) > 0 {
		g = g.parts[0]
	}
	return g.lanes[0]
}

// place returns the place of a scope among the candidates.
func (g *group) place() place {
	first := g.first()
	first.key, first.group = g.key(), g
	return first
}

// key returns the key of the group's next job, or a lower bound for it. The bound of a lane
// that must be read on is not valid for a whole of several parts: the lane may turn out to
// have no more jobs of that priority, and another part's job may come before it. So until
// the lane is read, the whole comes before all jobs of the priority.
func (g *group) key() Key {
	for len(g.parts) == 1 {
		g = g.parts[0]
	}
	first := g.first()
	if !first.known && !first.lane.rest && len(g.parts) > 0 {
		return frontOf(first.key.Turn)
	}
	return first.key
}

// empty reports whether no lane is left.
func (g *group) empty() bool { return len(g.parts) == 0 && len(g.lanes) == 0 }

// order turns the added parts and lanes into heaps.
func (g *group) order() {
	for _, p := range g.parts {
		p.order()
		if len(p.parts) > 1 {
			g.mixed = append(g.mixed, p)
		}
	}
	heap.Init(&g.parts)
	heap.Init(&g.lanes)
}

// drop removes the lane of the first job.
func (g *group) drop(startable func(*Lane) bool) {
	if len(g.parts) == 0 {
		heap.Pop(&g.lanes)
		return
	}
	g.parts[0].drop(startable)
	g.settle()
	g.uncover(startable)
}

// change moves the lane of the first job to the place of its next job.
func (g *group) change(next place, startable func(*Lane) bool) {
	if len(g.parts) == 0 {
		g.lanes[0] = next
		heap.Fix(&g.lanes, 0)
		return
	}
	g.parts[0].change(next, startable)
	g.settle()
	g.uncover(startable)
}

// charge counts the first job as a start of all groups on the way to it. The heaps are
// out of order until the caller changes or drops the job's lane.
func (g *group) charge() {
	g.got++
	if len(g.parts) > 0 {
		g.parts[0].charge()
	}
}

// settle moves the first part to its current place.
func (g *group) settle() {
	if g.parts[0].empty() {
		heap.Pop(&g.parts)
		return
	}
	heap.Fix(&g.parts, 0)
}

// groups contains the groups of a choice, by their shares.
type groups map[*Share]*group

// of returns the group of a share. got contains the starts that the choice has given to
// shares so far.
func (s groups) of(share *Share, got map[*Share]int) *group {
	if found := s[share]; found != nil {
		return found
	}
	found := &group{share: share, cost: share.Cost(), got: got[share]}
	s[share] = found
	if share.Of != nil {
		whole := s.of(share.Of, got)
		whole.parts = append(whole.parts, found)
	}
	return found
}

// keep records the starts of the shares, for the rest of the choice.
func (s groups) keep(got map[*Share]int) {
	for share, group := range s {
		got[share] = group.got
	}
}

// all calls f for every lane of the group.
func (g *group) all(f func(place)) {
	for _, p := range g.parts {
		p.all(f)
	}
	for _, p := range g.lanes {
		f(p)
	}
}

// parts is a heap of groups by priority, then by their past starts.
type parts []*group

func (p parts) Len() int      { return len(p) }
func (p parts) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p parts) Less(i, j int) bool {
	a, b := p[i].key(), p[j].key()
	switch {
	case a.Turn != b.Turn:
		return a.Turn < b.Turn
	case p[i].had() != p[j].had():
		return p[i].had() < p[j].had()
	}
	return a.Compare(b) < 0
}

// Push implements heap.Interface.
func (p *parts) Push(x any) { *p = append(*p, x.(*group)) }

// Pop implements heap.Interface.
func (p *parts) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
