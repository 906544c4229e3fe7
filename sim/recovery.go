package sim

import (
	"time"
)

// recovery: what a node held when it was killed or paused was claimed again,
// or had ended, within two leases and the record's patience. That time is counted
// in beats, of the node that beat the longest meanwhile without having missed half a
// lease. By seconds the machine would be judged: without a database nothing can be
// taken back, nor without a node that goes on. (A SQLite file is silent while a paused
// process holds its write lock.) Crash suspects are left out: a node runs one of them
// at a time, whatever slots are free.
//
// Both times are the database's: of the look that showed who held the job, and of the
// next claim. The rule takes a node for one that can act if its beats get through. On a
// machine where beats did and nothing else for so long, it would be too strict.
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
			case !ok: // then it never ended either, which another rule says
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

// recovered is when a job that was held under a fence was next known to be
// claimed under another or to have ended, and whether that claim was of a
// crash suspect. Claims by nodes that were killed before they could write it
// down are known from what they held.
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

// durations collects times.
type durations []time.Duration

func (d *durations) add(t time.Duration) { *d = append(*d, t) }
