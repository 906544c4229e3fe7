package sim

import (
	"slices"
	"sort"
	"time"

	"github.com/fairlead-io/fairlead"
)

// leases contains the periods for which each node was alive.
type leases struct {
	length time.Duration
	beat   time.Duration // heartbeat interval of the nodes
	nodes  map[fairlead.NodeID]*nodeLease
}

// nodeLease contains the leases of one node. A node has one process; a process may be
// several nodes, one after the other.
type nodeLease struct {
	process string
	granted []Instant // by the database's clock, ordered
	sent    []Instant // time of the request for each grant, by the processes' clock, ordered
	seen    []Instant // time when the node knew of each grant, ordered
	doubt   []Instant // times of failed heartbeats that may have counted
	left    Instant   // time when the node was about to leave, or zero

	joining time.Duration // duration of the join: the first grant may be newer than known by this much
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

// until returns the expiry, as known to the node, of the lease that a node had at a time of
// the database's clock. The lease may have lasted longer.
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

// atMostUntil returns the latest possible expiry of the lease that a node had at a time of
// the database's clock, if its last heartbeat before is known.
func (l leases) atMostUntil(node fairlead.NodeID, db Instant) (Instant, bool) {
	until, joined := l.until(node, db)
	if n := l.nodes[node]; joined && until == n.granted[0].Add(l.length) {
		until = until.Add(n.joining)
	}
	return until, joined
}

// trustedUntil returns the time until which a node could assume, at a time of the
// processes' clock, that it had a lease: one lease after it sent the last acknowledged
// heartbeat, or when it was about to leave.
func (l leases) trustedUntil(node fairlead.NodeID, at Instant) (Instant, bool) {
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

// mostBeats returns the maximum number of grants to one node within a period of the
// database's clock, each within half a lease of the one before. This measures, in
// heartbeats, how long there was a node that could act. It does not count a heartbeat that
// came much earlier than the next one was due, because nodes send extra heartbeats when a
// job is to be cancelled. It skips the node from which jobs are taken back.
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

// leftBefore reports whether a node was about to leave before that time of the processes'
// clock.
func (l leases) leftBefore(node fairlead.NodeID, at Instant) bool {
	n := l.nodes[node]
	return n != nil && n.left != 0 && n.left <= at
}

// confirmedAfter reports whether a node asked later whether its lease still held and got a
// positive answer: then the lease held all the time. The first answer received later may
// belong to an earlier request.
func (l leases) confirmedAfter(node fairlead.NodeID, at Instant) bool {
	n := l.nodes[node]
	return n != nil && len(n.seen) > 1 && n.seen[len(n.seen)-2] > at
}

// doubted reports whether the lease of a node may have lasted longer at a time than is
// known: a heartbeat that failed later than a lease before may just have counted, or the
// history of the node breaks off.
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

// silences counts the periods without any grant that are longer than half a lease.
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
