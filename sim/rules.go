package sim

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// nothingLost: every job ended once, as its plan says, and its end is the one
// that a handler reached.
func (c *check) nothingLost() {
	finals := map[int64]Final{}
	for _, f := range c.Final {
		if f.Other {
			continue
		}
		if _, twice := finals[f.Job]; twice {
			c.violated(NothingLost, f.Job, "the database has it twice")
		}
		if _, enqueued := c.Expected[f.Job]; !enqueued {
			c.violated(NothingLost, f.Job, "nobody enqueued it")
		}
		finals[f.Job] = f
	}
	for _, job := range c.enqueued() {
		final, found := finals[job]
		switch want := c.Expected[job]; {
		case !found:
			c.violated(NothingLost, job, "the database does not have it any more")
		case !final.State.Final():
			c.violated(NothingLost, job, "it is still %s", final.State)
		case final.Ending != want:
			c.violated(NothingLost, job, "it %s %s, its plan ends as %s %s", final.State, final.Reason, want.State, want.Reason)
		case final.Reason == fairlead.ReasonPoison: // no handler came to an end
		default:
			c.endReached(final)
		}
	}
}

func (c *check) enqueued() []int64 {
	jobs := make([]int64, 0, len(c.Expected))
	for job := range c.Expected {
		jobs = append(jobs, job)
	}
	slices.Sort(jobs)
	return jobs
}

// endReached: a handler came to the recorded end under the recorded fence, and
// no other end was ever acknowledged.
func (c *check) endReached(final Final) {
	want := map[fairlead.State]string{fairlead.Succeeded: OK, fairlead.Failed: Broken}[final.State]
	s := c.stories[final.Job]
	if s == nil || !slices.ContainsFunc(s.ends, func(e Event) bool { return e.Fence == final.Fence && e.Result == want }) {
		c.violated(NothingLost, final.Job, "it %s under fence %d, but no handler came to that end under that fence", final.State, final.Fence)
		return
	}
	if !slices.ContainsFunc(s.starts, func(e Event) bool { return e.Fence == final.Fence && e.Attempt == final.Attempt }) {
		c.violated(NothingLost, final.Job, "it ended under fence %d in attempt %d, which no handler started", final.Fence, final.Attempt)
	}
	for _, e := range s.answers {
		ends := e.Move == fairlead.Succeed || e.Move == fairlead.Fail || e.Move == fairlead.Drop
		if e.Result != Lost && (ends || e.Result == Cancelled) && e.Fence != final.Fence {
			c.violated(NothingLost, final.Job, "its end under fence %d was acknowledged, but the database has the one under fence %d", e.Fence, final.Fence)
		}
	}
}

// fencesGrow: in the order of the database's clock each claim has a larger
// fence than the one before, and a larger attempt number unless the one before
// was released. Handlers start in that order too, unless their process stood
// still between the claim and the start.
func (c *check) fencesGrow(job int64, s *story) {
	byTime := slices.Clone(s.claims)
	slices.SortStableFunc(byTime, func(a, b Event) int { return cmp.Compare(a.DB, b.DB) })
	for i := 1; i < len(byTime); i++ {
		before, after := byTime[i-1], byTime[i]
		switch {
		case after.Fence == before.Fence:
			c.violated(FencesGrow, job, "claimed twice under fence %d, by nodes %d and %d", after.Fence, before.Node, after.Node)
		case after.Fence < before.Fence:
			c.violated(FencesGrow, job, "claimed under fence %d after fence %d", after.Fence, before.Fence)
		case after.Attempt <= before.Attempt && !s.released(before.Fence):
			c.violated(FencesGrow, job, "attempt %d under fence %d follows attempt %d under fence %d", after.Attempt, after.Fence, before.Attempt, before.Fence)
		}
	}
	for i := 1; i < len(s.starts); i++ {
		before, after := s.starts[i-1], s.starts[i]
		if after.Fence <= before.Fence && !c.stoodStill(after.Process, s.claimOf(after.Fence), after.At) {
			c.violated(FencesGrow, job, "a handler started under fence %d after one had started under fence %d", after.Fence, before.Fence)
		}
	}
}

// released reports whether a lease was asked to be given back as if it had
// never been, which uses up no attempt number.
func (s *story) released(fence int64) bool {
	return slices.ContainsFunc(s.asked, func(e Event) bool { return e.Fence == fence && e.Move == fairlead.GiveUp })
}

// claimOf is when the claim of a lease was known; zero if it was not.
func (s *story) claimOf(fence int64) Instant {
	for _, e := range s.claims {
		if e.Fence == fence {
			return e.At
		}
	}
	return 0
}

// stoodStill reports whether a process was paused between two moments.
func (c *check) stoodStill(process string, from, to Instant) bool {
	return slices.ContainsFunc(c.resumes, func(e Event) bool {
		return e.Process == process && e.At >= from && e.At <= to
	})
}

// oneLiveLease: when a job was claimed, the lease before had been settled, or
// its node had left, or had let its lease run out by the database's clock. And
// the claiming node itself had a lease.
func (c *check) oneLiveLease(job int64, s *story) {
	for i, claim := range s.claims {
		until, joined := c.leases.atMostUntil(claim.Node, claim.DB)
		switch {
		case !joined:
			c.violated(OneLiveLease, job, "claimed by node %d, which had not joined", claim.Node)
		case claim.DB > until && !c.leases.doubted(claim.Node, claim.At, c.killedAfter(claim)):
			c.violated(OneLiveLease, job, "claimed by node %d %v after its own lease had run out", claim.Node, claim.DB.Sub(until))
		}
		if i == 0 {
			continue
		}
		before := s.claims[i-1]
		until, _ = c.leases.until(before.Node, claim.DB)
		if claim.DB < until && !c.leases.leftBefore(before.Node, claim.At) && !s.settledBefore(before.Fence, claim.At) {
			c.violated(OneLiveLease, job, "claimed by node %d under fence %d while node %d held it under fence %d, whose lease had %v left",
				claim.Node, claim.Fence, before.Node, before.Fence, until.Sub(claim.DB))
		}
	}
}

// settledBefore reports whether a settlement of the lease was sent before that
// moment and not refused.
func (s *story) settledBefore(fence int64, at Instant) bool {
	asked, ok := s.firstAsked(fence)
	if !ok || asked > at {
		return false
	}
	refused := slices.ContainsFunc(s.answers, func(e Event) bool { return e.Fence == fence && e.Result == Lost })
	accepted := slices.ContainsFunc(s.answers, func(e Event) bool { return e.Fence == fence && e.Result != Lost })
	return accepted || !refused
}

// killedAfter reports whether the process of a claim was killed before its
// node's next beat could be known.
func (c *check) killedAfter(claim Event) bool {
	return slices.ContainsFunc(c.kills, func(e Event) bool {
		return e.Process == claim.Process && e.At.Sub(claim.At) <= c.Lease
	})
}

// zombiesRefused: what was sent after a later claim was known does not count.
func (c *check) zombiesRefused(job int64, s *story) {
	for _, e := range s.answers {
		if e.Result == Lost {
			c.figures.RefusedEnds++
			continue
		}
		asked, _ := s.firstAsked(e.Fence)
		if later, ok := s.laterClaim(e.Fence); ok && later.At < asked {
			c.violated(ZombiesRefused, job, "%s under fence %d was accepted though sent %v after node %d had it under fence %d",
				e.Move, e.Fence, asked.Sub(later.At), later.Node, later.Fence)
		}
	}
	for _, e := range s.saves {
		if e.Result == Lost {
			c.figures.RefusedSaves++
			continue
		}
		if later, ok := s.laterClaim(e.Fence); ok && later.At < e.Sent {
			c.violated(ZombiesRefused, job, "progress under fence %d was accepted though sent %v after node %d had it under fence %d",
				e.Fence, e.Sent.Sub(later.At), later.Node, later.Fence)
		}
	}
}

// livingBelieved: a settlement that was sent once is not refused to a node
// that heard later that its lease still held. (One that was sent again is: its
// first sending may have counted.)
func (c *check) livingBelieved(job int64, s *story) {
	for _, e := range s.answers {
		sent := 0
		for _, asked := range s.asked {
			if asked.Fence == e.Fence {
				sent++
			}
		}
		node := s.nodeOf(e.Fence)
		if e.Result == Lost && sent == 1 && c.leases.confirmedAfter(node, e.At) {
			c.violated(LivingBelieved, job, "%s under fence %d was refused to node %d, whose lease held", e.Move, e.Fence, node)
		}
	}
}

func (s *story) nodeOf(fence int64) fairlead.NodeID {
	for _, e := range s.claims {
		if e.Fence == fence {
			return e.Node
		}
	}
	return 0
}

// patientReapers: a node that declared others dead had joined a lease before, and none
// of its beats had failed since, or this has not been so for long. (A process that stood
// still may have decided before and acted after. So may one whose beat failed just when
// it acted.)
func (c *check) patientReapers() {
	for _, e := range c.Events {
		if e.What != Reaped || e.Nodes == 0 {
			continue
		}
		n := c.leases.nodes[e.Node]
		from := e.Sent.Add(-c.Lease)
		switch {
		case c.leases.longUnsteady(e.Process, e.Sent):
		case n == nil || n.seen[0] > from:
			c.violated(PatientReapers, 0, "node %d declared %d nodes dead before it had been there for a lease", e.Node, e.Nodes)
		case slices.ContainsFunc(n.doubt, func(d Instant) bool { return d > from && d < e.Sent.Add(-c.Beat) }) && !c.stoodStill(e.Process, from, e.Sent):
			c.violated(PatientReapers, 0, "node %d declared %d nodes dead within a lease after one of its own beats had failed", e.Node, e.Nodes)
		}
	}
}

// onePlace: every look at the database showed every job once, and fences that
// never went back. Jobs that schedules make become more and never less.
func (c *check) onePlace() {
	last, least := map[int64]int64{}, int64(len(c.Expected)-len(c.Fires))
	for i, s := range c.Samples {
		if len(c.Schedules) > 0 {
			if s.Jobs < least || s.Jobs > int64(len(c.Expected)) {
				c.violated(OnePlace, 0, "snapshot %d shows %d jobs after %d, in the end there are %d", i, s.Jobs, least, len(c.Expected))
			}
			least = s.Jobs
		} else if s.Jobs != int64(len(c.Expected)) {
			c.violated(OnePlace, 0, "snapshot %d shows %d jobs of %d", i, s.Jobs, len(c.Expected))
		}
		for job, fence := range s.Running {
			if fence < last[job] {
				c.violated(OnePlace, job, "snapshot %d shows fence %d after fence %d", i, fence, last[job])
			}
			last[job] = fence
		}
	}
}
