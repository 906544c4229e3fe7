package sim

import (
	"slices"

	"github.com/fairlead-io/fairlead"
)

// unsteadyLeases is for how many leases a process is not trusted before it takes jobs
// back all the same.
const unsteadyLeases = 3

// patientReapers: a node that declared others dead had been there for a lease in which
// none of its beats failed, or its process had not been trusted for three leases.
//
// A node decides at a look, and what it decides is seen when it reaps: any time may pass
// in between. A look is later than the reap before it. So a node is known to have decided
// after a beat of its own had failed if it had begun another reap since. What happened
// before its first look of a life it decided after it joined.
func (c *check) patientReapers() {
	looks := c.looks()
	for _, e := range c.Events {
		if e.What != Reaped || e.Nodes == 0 {
			continue
		}
		n, own := c.leases.nodes[e.Node], looks[e.Process]
		from := e.Sent.Add(-c.Lease)
		switch {
		case len(own) == 0 && slices.Contains(c.Older, e.Process): // when it looked is not known
		case c.longUnsteady(e.Process, own, e.Sent):
		case n == nil || n.seen[0] > from:
			c.violated(ReapedOnArrival, 0, "node %d declared %d nodes dead before it had been there for a lease", e.Node, e.Nodes)
		case slices.ContainsFunc(n.doubt, func(d Instant) bool { return d > from && c.decidedAfter(d, own, e) }):
			c.violated(ReapedInDoubt, 0, "node %d declared %d nodes dead within a lease after one of its own beats had failed", e.Node, e.Nodes)
		}
	}
}

// look is a reap that a node is about to begin.
type look struct {
	node fairlead.NodeID
	at   Instant
}

// looks returns the reaps that each process has begun, in order. Histories from before
// these were noted have none.
func (c *check) looks() map[string][]look {
	looks := map[string][]look{}
	for _, e := range c.Events {
		if e.What == Reaping {
			looks[e.Process] = append(looks[e.Process], look{e.Node, e.At})
		}
	}
	return looks
}

// decidedAfter reports whether a node certainly decided on a reap after a moment: another
// reap began in between. Of processes that note no reaps it is taken for granted if they
// were not paused and the moment is a beat before.
func (c *check) decidedAfter(at Instant, own []look, reaped Event) bool {
	if len(own) == 0 {
		stoodStill := slices.ContainsFunc(c.resumes, func(e Event) bool {
			return e.Process == reaped.Process && e.At >= reaped.Sent.Add(-c.Lease) && e.At <= reaped.Sent
		})
		return at < reaped.Sent.Add(-c.Beat) && !stoodStill
	}
	return slices.ContainsFunc(own, func(l look) bool { return l.node == reaped.Node && l.at > at && l.at < reaped.Sent })
}

// longUnsteady reports whether a process may not have been trusted for three leases before
// some moment. It was at a look that came a lease after the last trouble, which is certain
// of every reap but the first since then.
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
