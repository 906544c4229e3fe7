package sim

import (
	"slices"
	"time"
)

// The rules below are those that starved machines tripped. They are kept to show that the
// histories in testdata/histories-starved do.

// OldDeadClaims counts the claims that the rule for dead claimers reported before: it
// compared the database's clock at the end of a claim with leases that were known, and
// looked for failed beats within a lease of the claim's answer.
func OldDeadClaims(r Record) (found int) {
	c := &check{Record: r, leases: leasesOf(r)}
	for _, e := range r.Events {
		if e.What == Killed {
			c.kills = append(c.kills, e)
		}
	}
	for _, e := range r.Events {
		if e.What != Claimed {
			continue
		}
		until, joined := c.leases.atMostUntil(e.Node, e.DB)
		if joined && e.DB > until && !c.leases.doubted(e.Node, e.At, c.killedAfter(e)) {
			found++
		}
	}
	return found
}

// OldReapsOnArrival counts the reaps that the rule for patient reapers reported before: it
// took times without any sign of a process for steady ones.
func OldReapsOnArrival(r Record) (found int) {
	l := leasesOf(r)
	for _, e := range r.Events {
		if e.What != Reaped || e.Nodes == 0 {
			continue
		}
		n := l.nodes[e.Node]
		if !l.oldLongUnsteady(e.Process, e.Sent) && (n == nil || n.seen[0] > e.Sent.Add(-r.Lease)) {
			found++
		}
	}
	return found
}

func (l leases) oldLongUnsteady(process string, at Instant) bool {
	type sign struct {
		at      Instant
		trouble bool
	}
	var signs []sign
	for _, n := range l.nodes {
		if n.process != process {
			continue
		}
		for i, seen := range n.seen {
			signs = append(signs, sign{seen, i == 0})
		}
		for _, doubt := range n.doubt {
			signs = append(signs, sign{doubt, true})
		}
	}
	slices.SortFunc(signs, func(a, b sign) int { return int(b.at - a.at) }) // latest first
	var lasted, quiet time.Duration
	before := at
	for _, s := range signs {
		if s.at > at {
			continue
		}
		passed := min(before.Sub(s.at), l.length/2)
		lasted, quiet, before = lasted+passed, quiet+passed, s.at
		switch {
		case quiet >= l.length*3/2:
			return false
		case lasted >= l.length*5/2:
			return true
		case s.trouble:
			quiet = 0
		}
	}
	return false
}
