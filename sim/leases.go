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
	beat   time.Duration // how often nodes confirm their lease
	nodes  map[fairlead.NodeID]*nodeLease
}

// nodeLease is one node's. A node has one process; a process may be several
// nodes, one after the other.
type nodeLease struct {
	process string
	granted []Instant // the database's clock, ordered
	sent    []Instant // when each grant was asked for, on the processes' clock, ordered
	seen    []Instant // when each grant was known to the node, ordered
	doubt   []Instant // when a beat failed that may have counted
	left    Instant   // when it was about to leave; zero if never

	joining time.Duration // how long it took to join: the first grant may be so much younger than is known
}

func leasesOf(r Record) leases {
	l := leases{length: r.Lease, beat: r.Beat, nodes: map[fairlead.NodeID]*nodeLease{}}
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
			if len(node.granted) == 0 {
				node.joining = e.At.Sub(e.Sent)
			}
			node.granted = append(node.granted, e.DB)
			node.sent = append(node.sent, e.Sent)
			node.seen = append(node.seen, e.At)
		case Unconfirmed:
			node.doubt = append(node.doubt, e.At)
		case Leaving:
			node.left = e.At
		}
	}
	for _, node := range l.nodes {
		slices.Sort(node.granted)
		slices.Sort(node.sent)
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

// atMostUntil is when the lease that a node had at a moment of the database's clock ran
// out at the latest, if its last beat before is known.
func (l leases) atMostUntil(node fairlead.NodeID, db Instant) (Instant, bool) {
	until, joined := l.until(node, db)
	if n := l.nodes[node]; joined && until == n.granted[0].Add(l.length) {
		until = until.Add(n.joining)
	}
	return until, joined
}

// believedUntil is when a node had to stop believing, at some moment of the processes'
// clock, that it has a lease: a lease after it sent the last beat that was acknowledged,
// or when it was about to leave.
func (l leases) believedUntil(node fairlead.NodeID, at Instant) (Instant, bool) {
	n := l.nodes[node]
	if n == nil {
		return 0, false
	}
	after := sort.Search(len(n.sent), func(i int) bool { return n.sent[i] > at })
	if after == 0 {
		return 0, false
	}
	until := n.sent[after-1].Add(l.length)
	if n.left != 0 {
		until = min(until, n.left)
	}
	return until, true
}

// mostBeats is how often one node was granted its lease within a time of the database's
// clock, each time within half a lease of the time before: how long, counted in beats,
// there was a node that could act. A beat that came much earlier than the next one was due
// does not count: nodes ask for news out of turn when a job is to be cancelled. Neither
// does the node of which something is taken back.
func (l leases) mostBeats(from, to Instant, except fairlead.NodeID) int {
	most := 0
	for id, n := range l.nodes {
		if id == except {
			continue
		}
		beats, last := 0, Instant(0)
		for _, granted := range n.granted {
			if granted <= from || granted >= to || granted.Sub(last) < l.beat/2 {
				continue
			}
			if granted.Sub(last) > l.length/2 {
				beats = 0
			}
			beats++
			last = granted
			most = max(most, beats)
		}
	}
	return most
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

// doubted reports whether the lease of a node may have lasted longer at some moment than
// is known: a beat that failed later than a lease before may have counted just then, or
// the history of the node breaks off.
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

// silences counts the times without any grant that are longer than half a lease.
func (l leases) silences() int {
	var all []Instant
	for _, n := range l.nodes {
		all = append(all, n.granted...)
	}
	slices.Sort(all)
	found := 0
	for i := 1; i < len(all); i++ {
		if all[i].Sub(all[i-1]) > l.length/2 {
			found++
		}
	}
	return found
}
