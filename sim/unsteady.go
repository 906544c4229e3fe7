package sim

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// firstSeen returns the time at which a process first knew that it had a lease.
func (l leases) firstSeen(process string) (first Instant, known bool) {
	for _, n := range l.nodes {
		if n.process == process && len(n.seen) > 0 && (!known || n.seen[0] < first) {
			first, known = n.seen[0], true
		}
	}
	return first, known
}

// steadyFor returns how long the heartbeats of a node had succeeded at a time, if none
// failed until another time: since it sent the first one after it joined or after a
// failure. It returns zero if one failed in between.
func (l leases) steadyFor(node fairlead.NodeID, at, until Instant) time.Duration {
	n := l.nodes[node]
	if n == nil {
		return 0
	}
	last := Instant(0) // time of the last problem
	for _, d := range n.doubt {
		switch {
		case d <= at:
			last = max(last, d)
		case d <= until:
			return 0
		}
	}
	for i := 1; i < len(n.sent); i++ { // the first is the join
		if n.sent[i] > last {
			return max(0, at.Sub(n.sent[i]))
		}
	}
	return 0
}

// longUnsteady reports whether a process may have been untrusted for three leases before a
// time: it joined again or a heartbeat failed again and again, without a steady period of
// two leases in between. In such a period one of its looks, four per lease, found it
// trusted. A gap of more than half a lease without a sign of life ends the period, because
// it is unknown whether the process was steady in the gap, or whether it looked. Such a gap
// counts as a lease, in which the process may have looked, plus half a lease for the rest.
//
// It is used for histories that do not record looks.
func (l leases) longUnsteady(process string, at Instant) bool {
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
		passed := before.Sub(s.at)
		quiet += passed
		if passed > l.length/2 {
			passed, quiet = min(passed, l.length*3/2), 0
		}
		lasted, before = lasted+passed, s.at
		switch {
		case quiet >= l.length*2:
			return false
		case lasted >= l.length*unsteadyLeases:
			return true
		case s.trouble:
			quiet = 0
		}
	}
	return false
}
