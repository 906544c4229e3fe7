package sim

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// fencesGrow checks that, in the order of the database's clock, each claim has a larger
// fence than the one before, and a larger attempt number unless the previous run was
// released. The database reads the clock after it has locked the row, and so after the
// previous claim has committed. It also checks that a handler starts once under each fence,
// and only if its node had a lease when it received the claim. (The handler may start much
// later if the process was not scheduled between its check of the lease and the start.)
func (c *check) fencesGrow(job int64, s *story) {
	byTime := slices.Clone(s.claims)
	slices.SortStableFunc(byTime, func(a, b Event) int { return cmp.Compare(a.DB, b.DB) })
	for i := 1; i < len(byTime); i++ {
		before, after := byTime[i-1], byTime[i]
		switch {
		case after.Fence == before.Fence:
			c.violated(FenceTwice, job, "claimed twice under fence %d, by nodes %d and %d", after.Fence, before.Node, after.Node)
		case after.Fence < before.Fence:
			c.violated(FenceWentBack, job, "claimed under fence %d after fence %d", after.Fence, before.Fence)
		case after.Attempt <= before.Attempt && !s.released(before.Fence):
			c.violated(AttemptRepeated, job, "attempt %d under fence %d follows attempt %d under fence %d", after.Attempt, after.Fence, before.Attempt, before.Fence)
		}
	}
	started := map[int64]bool{}
	for _, start := range s.starts {
		claimed := s.claimOf(start.Fence)
		until, known := c.leases.trustedUntil(start.Node, start.At)
		switch {
		case started[start.Fence]:
			c.violated(StartedLate, job, "a handler started a second time under fence %d", start.Fence)
		case known && s.nodeOf(start.Fence) == start.Node && claimed > until:
			c.violated(StartedLate, job, "a handler started under fence %d, which its node heard of %v after its lease had ended", start.Fence, claimed.Sub(until))
		}
		started[start.Fence] = true
	}
}

// startsClaimed checks that each handler was started by the node that claimed the job, with
// the attempt number of the claim.
func (c *check) startsClaimed(job int64, s *story) {
	for _, start := range s.starts {
		if !slices.ContainsFunc(s.claims, func(e Event) bool {
			return e.Fence == start.Fence && e.Node == start.Node && e.Attempt == start.Attempt
		}) {
			c.violated(StartedUnclaimed, job, "node %d started attempt %d under fence %d, which it had not claimed", start.Node, start.Attempt, start.Fence)
		}
	}
}

// released reports whether a release was requested for a lease, which uses up no attempt
// number.
func (s *story) released(fence int64) bool {
	return slices.ContainsFunc(s.asked, func(e Event) bool { return e.Fence == fence && e.Move == fairlead.MoveRelease })
}

// claimOf returns the time at which the claim of a lease was known, or zero.
func (s *story) claimOf(fence int64) Instant {
	for _, e := range s.claims {
		if e.Fence == fence {
			return e.At
		}
	}
	return 0
}

// oneLiveLease checks that when a job was claimed, the previous lease had been settled, or
// its node had left or let its lease expire by the database's clock. It also checks that
// the claiming node, which the database names, had a lease.
func (c *check) oneLiveLease(job int64, s *story) {
	for i, claim := range s.claims {
		until, joined := c.leases.atMostUntil(claim.Node, claim.DB)
		switch {
		case !joined:
			c.violated(StrangerClaimed, job, "claimed by node %d, which had not joined", claim.Node)
		case claim.Sent == 0 && slices.Contains(c.Older, claim.Process): // the claim may have checked its node at any time before
		case claim.checkedFrom() > until && !c.leases.doubted(claim.Node, claim.begun(), c.killedAfter(claim)):
			c.violated(DeadClaimed, job, "claimed by node %d %v after its own lease had run out", claim.Node, claim.checkedFrom().Sub(until))
		}
		if i == 0 {
			continue
		}
		before := s.claims[i-1]
		until, _ = c.leases.until(before.Node, claim.DB)
		if claim.DB < until && !c.leases.leftBefore(before.Node, claim.At) && !s.settledBefore(before.Fence, claim.At) {
			c.violated(TwoLiveLeases, job, "claimed by node %d under fence %d while node %d held it under fence %d, whose lease had %v left",
				claim.Node, claim.Fence, before.Node, before.Fence, until.Sub(claim.DB))
		}
	}
	for _, held := range s.holdings {
		if node := s.nodeOf(held.Fence); node != 0 && node != held.Node {
			c.violated(HeldByAnother, job, "the database says that node %d held it under fence %d, which node %d had claimed", held.Node, held.Fence, node)
		}
	}
}

// begun returns the time at which a claim was sent, or when it was answered if that is
// unknown.
func (e *Event) begun() Instant { return cmp.Or(e.Sent, e.At) }

// checkedFrom returns the earliest time of the database's clock at which a claim may have
// checked that its node was alive. A claim reads the clock after it has locked its jobs,
// later than the check, but both happen between the request and the answer. So the check
// was earlier by at most the duration of the claim, by the clock of the processes.
func (e *Event) checkedFrom() Instant { return e.DB.Add(-e.At.Sub(e.begun())) }

// settledBefore reports whether a settlement of the lease was sent before that time and not
// refused.
func (s *story) settledBefore(fence int64, at Instant) bool {
	asked, ok := s.firstAsked(fence)
	if !ok || asked > at {
		return false
	}
	refused := slices.ContainsFunc(s.answers, func(e Event) bool { return e.Fence == fence && e.Result == Lost })
	accepted := slices.ContainsFunc(s.answers, func(e Event) bool { return e.Fence == fence && e.Result != Lost })
	return accepted || !refused
}

// killedAfter reports whether the process of a claim was killed before its node's next
// heartbeat could be known.
func (c *check) killedAfter(claim Event) bool {
	return slices.ContainsFunc(c.kills, func(e Event) bool {
		return e.Process == claim.Process && e.At.Sub(claim.At) <= c.Lease
	})
}

// zombiesRefused checks that requests sent after a later claim was known have no effect.
func (c *check) zombiesRefused(job int64, s *story) {
	for _, e := range s.answers {
		if e.Result == Lost {
			c.figures.RefusedEnds++
			continue
		}
		asked, _ := s.firstAsked(e.Fence)
		if later, ok := s.laterClaim(e.Fence); ok && later.At < asked {
			c.violated(LateEndAccepted, job, "%s under fence %d was accepted though sent %v after node %d had it under fence %d",
				e.Move, e.Fence, asked.Sub(later.At), later.Node, later.Fence)
		}
	}
	for _, e := range s.saves {
		if e.Result == Lost {
			c.figures.RefusedSaves++
			continue
		}
		if later, ok := s.laterClaim(e.Fence); ok && later.At < e.Sent {
			c.violated(LateProgressAccepted, job, "progress under fence %d was accepted though sent %v after node %d had it under fence %d",
				e.Fence, e.Sent.Sub(later.At), later.Node, later.Fence)
		}
		if over, ok := s.settledAt(e.Fence); ok && over < e.Sent {
			c.violated(ProgressAfterEnd, job, "progress under fence %d was accepted though sent %v after that lease had been settled", e.Fence, e.Sent.Sub(over))
		}
	}
}

// livingBelieved checks that progress, and settlements sent once, are not refused to a node
// that learned later that its lease still held. Exceptions are a settlement that was sent
// again, because its first attempt may have counted, progress of a settled lease, and the
// end of a run that its schedule has replaced.
func (c *check) livingBelieved(job int64, s *story) {
	for _, e := range s.answers {
		sent := 0
		for _, asked := range s.asked {
			if asked.Fence == e.Fence {
				sent++
			}
		}
		node := s.nodeOf(e.Fence)
		if e.Result == Lost && sent == 1 && !c.replaced[job] && c.leases.confirmedAfter(node, e.At) {
			c.violated(EndRefused, job, "%s under fence %d was refused to node %d, whose lease held", e.Move, e.Fence, node)
		}
	}
	for _, e := range s.saves {
		node := s.nodeOf(e.Fence)
		asked, settling := s.firstAsked(e.Fence)
		if e.Result == Lost && c.leases.confirmedAfter(node, e.At) && (!settling || asked > e.At) {
			c.violated(ProgressRefused, job, "progress under fence %d was refused to node %d, whose lease held", e.Fence, node)
		}
	}
}

// settledAt returns the time at which a settlement of the lease was first known to count.
func (s *story) settledAt(fence int64) (Instant, bool) {
	for _, e := range s.answers {
		if e.Fence == fence && e.Result != Lost {
			return e.At, true
		}
	}
	return 0, false
}

func (s *story) nodeOf(fence int64) fairlead.NodeID {
	for _, e := range s.claims {
		if e.Fence == fence {
			return e.Node
		}
	}
	return 0
}

// neverEarly checks that no job was claimed before it was due, or claimed again before the
// delay after a failure had passed. It measures the delay by the clock of the processes:
// from before the failure was reported until the next claim was known.
func (c *check) neverEarly() {
	for _, job := range c.jobs() {
		s := c.stories[job]
		for i, claim := range s.claims {
			if due := c.Due[job]; claim.DB < due {
				c.violated(ClaimedEarly, job, "claimed under fence %d %v before it was due", claim.Fence, due.Sub(claim.DB))
			}
			if i == 0 || !s.failed(s.claims[i-1].Fence) {
				continue
			}
			if asked, ok := s.firstAsked(s.claims[i-1].Fence); ok && asked <= claim.At && claim.At.Sub(asked) < c.Pause {
				c.violated(RetriedEarly, job, "claimed under fence %d %v after it had failed, and its pause is %v", claim.Fence, claim.At.Sub(asked), c.Pause)
			}
		}
	}
}

// failed reports whether the lease ended with a failure that is retried.
func (s *story) failed(fence int64) bool {
	return slices.ContainsFunc(s.answers, func(e Event) bool {
		return e.Fence == fence && e.Move == fairlead.Again && e.Result == OK
	})
}

// onePlace checks that every snapshot of the database had every job once, with fences that
// never went back. The number of jobs may grow because of schedules, but never shrink.
func (c *check) onePlace() {
	last, least := map[int64]int64{}, int64(len(c.Expected)-len(c.Fires))
	most := int64(len(c.Expected))
	if len(c.Schedules) == 0 {
		least = most
	}
	finals := map[int64]Final{}
	for _, f := range c.Final {
		finals[f.Job] = f
	}
	for i, s := range c.Samples {
		switch {
		case s.Jobs < least:
			c.violated(SnapshotLacksJobs, 0, "snapshot %d shows %d jobs after %d", i, s.Jobs, least)
		case s.Jobs > most:
			c.violated(SnapshotRepeatsJobs, 0, "snapshot %d shows %d jobs, in the end there are %d", i, s.Jobs, most)
		default:
			least = s.Jobs
		}
		for job, fence := range s.Running {
			if fence < last[job] {
				c.violated(SnapshotFenceBack, job, "snapshot %d shows fence %d after fence %d", i, fence, last[job])
			}
			if f, ended := finals[job]; ended && f.State.Final() && fence > f.Fence {
				c.violated(SnapshotFenceUnended, job, "snapshot %d shows fence %d, and it ended under fence %d", i, fence, f.Fence)
			}
			last[job] = fence
		}
	}
}
