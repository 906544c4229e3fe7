package sim

import (
	"time"
)

// recovery checks that the jobs of a killed or suspended node were claimed again, or had
// ended, within two leases and the record's patience. That time is counted in heartbeats of
// the node that sent them for the longest time without missing half a lease. Absolute
// durations would judge the machine: no job can be taken back without a working database or
// a running node. (A SQLite file is blocked while a suspended process holds its write
// lock.) It skips crash suspects, because a node runs only one of them at a time,
// regardless of free slots.
//
// Both times are those of the database: the query that showed who held the job, and the
// next claim. The rule assumes that a node can act if its heartbeats get through. It would
// be too strict on a machine where, for a long time, only heartbeats get through.
func (c *check) recovery() {
	finals := map[int64]Final{}
	for _, f := range c.Final {
		finals[f.Job] = f
	}
	c.figures.Silences = c.leases.silences()
	for _, job := range c.jobs() {
		s := c.stories[job]
		for _, held := range s.holdings {
			back, solo, ok := s.recovered(held, finals[job])
			took := back.Sub(held.DB)
			switch {
			case !ok: // then it never ended, which violates another rule
				continue
			case solo:
				c.figures.Suspects.add(took)
				continue
			}
			c.figures.Recoveries.add(took)
			counted := time.Duration(c.leases.mostBeats(held.DB, back, held.Node)) * c.Beat
			c.figures.Counted.add(counted)
			if limit := 2*c.Lease + c.Patience; counted > limit {
				c.violated(RecoveredLate, job, "node %d, then %s, held it under fence %d; it was %v, %v by the beats of another node and more than %v, until it was claimed again or had ended",
					held.Node, held.Result, held.Fence, took, counted, limit)
			}
		}
	}
}

// recovered returns the time at which a job held under a fence was next known to be claimed
// under another fence or to have ended, and whether that claim was of a crash suspect.
// Claims by nodes that were killed before they could record them are known from the leases
// they held.
func (s *story) recovered(held Event, final Final) (back Instant, solo, ok bool) {
	known := func(at Instant, suspect bool) {
		if !ok || at < back {
			back, solo, ok = at, suspect, true
		}
	}
	if final.Fence == held.Fence && final.State.Final() {
		known(max(final.Finished, held.DB), false)
	}
	for _, e := range s.claims {
		if e.Fence > held.Fence {
			known(max(e.DB, held.DB), e.Solo)
		}
	}
	for _, e := range s.holdings {
		if e.Fence > held.Fence {
			known(e.DB, false)
		}
	}
	return back, solo, ok
}

// durations is a list of durations.
type durations []time.Duration

func (d *durations) add(t time.Duration) { *d = append(*d, t) }
