package sim

import (
	"slices"
	"sort"
	"time"

	"github.com/fairlead-io/fairlead"
)

// leases knows until when each node was alive.
type leases struct {
	length time.Duration
	nodes  map[fairlead.NodeID]*nodeLease
}

// nodeLease is one node's. A node has one process; a process may be several
// nodes, one after the other.
type nodeLease struct {
	process string
	granted []Instant // the database's clock, ordered
	seen    []Instant // when each grant was known to the node, ordered
	doubt   []Instant // when a beat failed that may have counted
	left    Instant   // when it was about to leave; zero if never
}

func leasesOf(r Record) leases {
	l := leases{length: r.Lease, nodes: map[fairlead.NodeID]*nodeLease{}}
	for _, e := range r.Events {
		if e.What != Granted && e.What != Leaving && e.What != Unconfirmed {
			continue
		}
		node := l.nodes[e.Node]
		if node == nil {
			node = &nodeLease{process: e.Process}
			l.nodes[e.Node] = node
		}
		switch e.What {
		case Granted:
			node.granted = append(node.granted, e.DB)
			node.seen = append(node.seen, e.At)
		case Unconfirmed:
			node.doubt = append(node.doubt, e.At)
		case Leaving:
			node.left = e.At
		}
	}
	for _, node := range l.nodes {
		slices.Sort(node.granted)
	}
	return l
}

// until is when the lease that a node had at a moment of the database's clock
// ran out, as far as the node knew. It may have lasted longer.
func (l leases) until(node fairlead.NodeID, db Instant) (Instant, bool) {
	n := l.nodes[node]
	if n == nil {
		return 0, false
	}
	after := sort.Search(len(n.granted), func(i int) bool { return n.granted[i] > db })
	if after == 0 {
		return 0, false
	}
	return n.granted[after-1].Add(l.length), true
}

// leftBefore reports whether a node was about to leave before that moment of
// the processes' clock.
func (l leases) leftBefore(node fairlead.NodeID, at Instant) bool {
	n := l.nodes[node]
	return n != nil && n.left != 0 && n.left <= at
}

// confirmedAfter reports whether a node asked later whether its lease still
// held and heard that it did: then it held all the time. The first answer that
// it heard later may be to an earlier question.
func (l leases) confirmedAfter(node fairlead.NodeID, at Instant) bool {
	n := l.nodes[node]
	return n != nil && len(n.seen) > 1 && n.seen[len(n.seen)-2] > at
}

// doubted reports whether the last news of a node before some moment was a
// beat that may have counted, or whether its history breaks off: then its
// lease may have lasted longer than is known.
func (l leases) doubted(node fairlead.NodeID, at Instant, dead bool) bool {
	n := l.nodes[node]
	if n == nil || dead {
		return true
	}
	for _, d := range n.doubt {
		if d >= at.Add(-l.length) {
			return true
		}
	}
	return false
}

// stall is a time in which the database confirmed nobody's lease.
type stall struct{ from, to Instant }

// stalls finds the times without any grant that are longer than half a lease.
func (l leases) stalls() []stall {
	var all []Instant
	for _, n := range l.nodes {
		all = append(all, n.granted...)
	}
	slices.Sort(all)
	var found []stall
	for i := 1; i < len(all); i++ {
		if all[i].Sub(all[i-1]) > l.length/2 {
			found = append(found, stall{all[i-1], all[i]})
		}
	}
	return found
}
