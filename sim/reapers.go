package sim

import (
	"slices"

	"github.com/fairlead-io/fairlead"
)

// unsteadyLeases is the number of leases for which a process is not trusted, after which it
// may take back jobs anyway.
const unsteadyLeases = 3

// patientReapers checks that a node that marked others as dead had existed for a lease
// without a failed heartbeat, or that its process had not been trusted for three leases.
//
// A node decides during a look, and the decision becomes visible when it reaps: any time
// may pass in between. A look comes after the previous reap. So a node is known to have
// decided after one of its heartbeats failed if it had begun another reap since. Decisions
// before its first look came after it joined.
func (c *check) patientReapers() {
	looks := c.looks()
	for _, e := range c.Events {
		if e.What != Reaped || e.Nodes == 0 {
			continue
		}
		n, own := c.leases.nodes[e.Node], looks[e.Process]
		from := e.Sent.Add(-c.Lease)
		switch {
		case len(own) == 0 && slices.Contains(c.Older, e.Process): // the time of its look is unknown
		case c.longUnsteady(e.Process, own, e.Sent):
		case n == nil || n.seen[0] > from:
			c.violated(ReapedOnArrival, 0, "node %d declared %d nodes dead before it had been there for a lease", e.Node, e.Nodes)
		case slices.ContainsFunc(n.doubt, func(d Instant) bool { return d > from && c.decidedAfter(d, own, e) }):
			c.violated(ReapedInDoubt, 0, "node %d declared %d nodes dead within a lease after one of its own beats had failed", e.Node, e.Nodes)
		}
	}
}

// look is the start of a reap by a node.
type look struct {
	node fairlead.NodeID
	at   Instant
}

// looks returns the reaps that each process has begun, in order. Older histories do not
// contain them.
func (c *check) looks() map[string][]look {
	looks := map[string][]look{}
	for _, e := range c.Events {
		if e.What == Reaping {
			looks[e.Process] = append(looks[e.Process], look{e.Node, e.At})
		}
	}
	return looks
}

// decidedAfter reports whether a node certainly decided on a reap after a time, because
// another reap began in between. For processes that record no reaps, it assumes so if they
// were not suspended and the time is at least one heartbeat before.
func (c *check) decidedAfter(at Instant, own []look, reaped Event) bool {
	if len(own) == 0 {
		stoodStill := slices.ContainsFunc(c.resumes, func(e Event) bool {
			return e.Process == reaped.Process && e.At >= reaped.Sent.Add(-c.Lease) && e.At <= reaped.Sent
		})
		return at < reaped.Sent.Add(-c.Beat) && !stoodStill
	}
	return slices.ContainsFunc(own, func(l look) bool { return l.node == reaped.Node && l.at > at && l.at < reaped.Sent })
}

// longUnsteady reports whether a process may have been untrusted for three leases before a
// time. It was trusted at a look that came a lease after the last problem, which is certain
// for every reap except the first since then.
func (c *check) longUnsteady(process string, own []look, at Instant) bool {
	if len(own) == 0 {
		return c.leases.longUnsteady(process, at)
	}
	since, known := c.leases.firstSeen(process)
	for i, l := range own {
		if i > 0 && l.at < at && own[i-1].node == l.node && c.leases.steadyFor(l.node, own[i-1].at, l.at) >= c.Lease {
			since = own[i-1].at
		}
	}
	return known && at.Sub(since) >= unsteadyLeases*c.Lease
}
