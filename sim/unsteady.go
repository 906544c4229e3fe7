package sim

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// firstSeen returns when a process first heard that it has a lease.
func (l leases) firstSeen(process string) (first Instant, known bool) {
	for _, n := range l.nodes {
		if n.process == process && len(n.seen) > 0 && (!known || n.seen[0] < first) {
			first, known = n.seen[0], true
		}
	}
	return first, known
}

// steadyFor returns for how long the beats of a node had succeeded at a moment, if none
// failed until another one: since it sent the first of them after it joined or after one
// had failed. It is zero if one failed in between.
func (l leases) steadyFor(node fairlead.NodeID, at, until Instant) time.Duration {
	n := l.nodes[node]
	if n == nil {
		return 0
	}
	last := Instant(0) // trouble
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

// longUnsteady reports whether a process may not have been trusted for three leases before
// some moment: it joined anew or a beat failed again and again, and it was not steady for
// two leases in between. In a steady stretch of two leases one of its looks, four per
// lease, found it trusted. A time of more than half a lease without a sign ends the
// stretch: nothing says that the process was steady in it, or that it looked. Of such a
// time a lease counts, in which the process may have looked, and the half that it adds
// for the rest.
//
// This is for histories that do not tell of looks.
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
