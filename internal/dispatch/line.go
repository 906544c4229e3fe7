package dispatch

import (
	"container/heap"
	"slices"
)

// place is a lane where its next job stands.
type place struct {
	lane  *Lane
	key   Key
	known bool   // else key only bounds it
	group *group // of a fair scope, of which the lane is the first; nil: it is none
}

// line is all lanes that a choice takes from. The lanes of a fair scope have one place in it
// together.
type line struct {
	lanes  places   // those of no scope
	scopes []*group // few: one for the cluster, and one for each queue with an order of its own
}

// first is the first place. Scopes forget lanes that cannot start a job any more when these
// come first in them: such a lane would hide a job of the scope that stands before its own.
func (l *line) first(startable func(*Lane) bool) (first place, any bool) {
	if any = len(l.lanes) > 0; any {
		first = l.lanes[0]
	}
	for _, scope := range l.scopes {
		for !scope.empty() && !startable(scope.first().lane) {
			scope.drop()
		}
		if scope.empty() {
			continue
		}
		if own := scope.place(); !any || own.key.Compare(first.key) < 0 {
			first, any = own, true
		}
	}
	return first, any
}

// drop removes the first place.
func (l *line) drop(first place) {
	if first.group != nil {
		first.group.drop()
		return
	}
	heap.Pop(&l.lanes)
}

// change puts the first lane where its next job belongs.
func (l *line) change(first, next place) {
	if first.group != nil {
		first.group.change(next)
		return
	}
	l.lanes[0] = next
	heap.Fix(&l.lanes, 0)
}

// each is the places of all lanes one by one.
func (l *line) each() []place {
	all := slices.Clone(l.lanes)
	for _, scope := range l.scopes {
		scope.all(func(p place) { all = append(all, p) })
	}
	return all
}

// places is a heap of lanes by their next job.
type places []place

func (p places) Len() int           { return len(p) }
func (p places) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p places) Less(i, j int) bool { return p[i].key.Compare(p[j].key) < 0 }

// Push is part of heap.Interface.
func (p *places) Push(x any) { *p = append(*p, x.(place)) }

// Pop is part of heap.Interface.
func (p *places) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
