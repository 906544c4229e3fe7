package sim

import (
	"slices"
	"time"
)

// longUnsteady reports whether a process reached the database for two and a half leases before some
// moment without being steady for one and a half: it joined anew or a beat failed again
// and again. Such a process takes jobs back all the same. (The engine waits for three
// leases, which it counts by its own looks.) Times in which it did not reach the
// database, or stood still, count for half a lease at most.
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
