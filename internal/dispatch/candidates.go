package dispatch

import (
	"container/heap"
	"slices"
)

// place is a lane at the position of its next job.
type place struct {
	lane  *Lane
	key   Key
	known bool   // whether key is exact, as opposed to a lower bound
	group *group // fair scope of which the lane is the first; nil = none
}

// candidates contains all lanes of a choice, ordered by their next jobs. The lanes of a fair
// scope share one place.
type candidates struct {
	lanes     places // lanes outside of fair scopes
	scopes    scopes
	startable func(*Lane) bool

	// closed is the reason why lanes cannot start a job any more, if scopes do not know it
	// yet. Limits that close lanes also apply to the lane that has just started a job: while
	// that lane is open, so are all that were.
	closed closing
}

// first returns the first place.
func (l *candidates) first() (first place, any bool) {
	if !l.closed.none() {
		for _, scope := range l.scopes {
			scope.forget(l.closed, l.startable)
		}
		heap.Init(&l.scopes)
		l.closed = closing{}
	}
	if any = len(l.lanes) > 0; any {
		first = l.lanes[0]
	}
	if len(l.scopes) > 0 {
		if own := l.scopes[0].place(); !any || own.key.Compare(first.key) < 0 {
			first, any = own, true
		}
	}
	return first, any
}

// drop removes the first place.
func (l *candidates) drop(first place) {
	if first.group == nil {
		heap.Pop(&l.lanes)
		return
	}
	first.group.drop(l.startable)
	l.fixFirstScope()
}

// change moves the first lane to the place of its next job.
func (l *candidates) change(first, next place) {
	if first.group == nil {
		l.lanes[0] = next
		heap.Fix(&l.lanes, 0)
		return
	}
	first.group.change(next, l.startable)
	l.fixFirstScope()
}

// fixFirstScope moves the first scope to the place of its next job.
func (l *candidates) fixFirstScope() {
	if l.scopes[0].empty() {
		heap.Pop(&l.scopes)
		return
	}
	heap.Fix(&l.scopes, 0)
}

// each returns the places of all lanes individually.
func (l *candidates) each() []place {
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

// Push implements heap.Interface.
func (p *places) Push(x any) { *p = append(*p, x.(place)) }

// Pop implements heap.Interface.
func (p *places) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

// scopes is a heap of fair scopes by their next job.
type scopes []*group

func (s scopes) Len() int           { return len(s) }
func (s scopes) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s scopes) Less(i, j int) bool { return s[i].key().Compare(s[j].key()) < 0 }

// Push implements heap.Interface.
func (s *scopes) Push(x any) { *s = append(*s, x.(*group)) }

// Pop implements heap.Interface.
func (s *scopes) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
