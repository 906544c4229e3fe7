package sim

import (
	"slices"

	"github.com/fairlead-io/fairlead"
)

// nothingLost checks that every job ended once, as planned, with an end that a handler
// reached.
func (c *check) nothingLost() {
	finals := map[int64]Final{}
	for _, f := range c.Final {
		_, twice := finals[f.Job]
		_, enqueued := c.Expected[f.Job]
		switch {
		case twice:
			c.violated(JobStoredTwice, f.Job, "the database has it twice")
		case !f.Other && !enqueued:
			c.violated(JobFromNowhere, f.Job, "it was not enqueued")
		case f.Other && !f.State.Final():
			c.violated(JobNotEnded, f.Job, "what it is a part of has ended, and it is still %s", f.State)
		}
		finals[f.Job] = f
	}
	for _, job := range c.enqueued() {
		final, found := finals[job]
		switch want := c.Expected[job]; {
		case !found:
			c.violated(JobVanished, job, "the database does not have it any more")
		case !final.State.Final():
			c.violated(JobNotEnded, job, "it is still %s", final.State)
		case final.Ending != want:
			c.violated(WrongEnd, job, "it %s %s, its plan ends as %s %s", final.State, final.Reason, want.State, want.Reason)
		default:
			c.endReached(final)
			c.countsKept(final)
		}
	}
	for _, job := range c.jobs() {
		final, found := finals[job]
		_, enqueued := c.Expected[job]
		switch claims := c.stories[job].claims; {
		case found:
			c.endIsLast(final, claims)
		case !enqueued && len(claims) > 0:
			c.violated(JobFromNowhere, job, "it was claimed under fence %d, was not enqueued, and the database does not have it", claims[0].Fence)
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

// endReached checks that a handler reached the recorded end under the recorded fence, and
// that no other end was ever acknowledged. Poison jobs have no such handler, because their
// nodes died.
func (c *check) endReached(final Final) {
	s := c.stories[final.Job]
	if s == nil {
		s = &story{}
	}
	poison := final.Reason == fairlead.ReasonPoison
	if poison && final.Attempt < c.Crashes {
		c.violated(PoisonTooSoon, final.Job, "it is poison after %d runs, before it was in %d crashes", final.Attempt, c.Crashes)
	}
	want := map[fairlead.State]string{fairlead.Succeeded: OK, fairlead.Failed: Broken}[final.State]
	ended := slices.ContainsFunc(s.ends, func(e Event) bool { return e.Fence == final.Fence && e.Result == want })
	started := slices.ContainsFunc(s.starts, func(e Event) bool { return e.Fence == final.Fence && e.Attempt == final.Attempt })
	switch {
	case poison:
	case !ended:
		c.violated(EndNotReached, final.Job, "it %s under fence %d, but no handler came to that end under that fence", final.State, final.Fence)
		return
	case !started:
		c.violated(EndNotStarted, final.Job, "it ended under fence %d in attempt %d, which no handler started", final.Fence, final.Attempt)
	}
	for _, e := range s.answers {
		ends := e.Move == fairlead.Succeed || e.Move == fairlead.Fail || e.Move == fairlead.Drop
		if e.Result != Lost && (ends || e.Result == Cancelled) && (poison || e.Fence != final.Fence) {
			c.violated(EndForgotten, final.Job, "its end under fence %d was acknowledged, but the database has the one under fence %d", e.Fence, final.Fence)
		}
	}
}

// endIsLast checks that an ended job is never claimed again, and never claimed under a
// fence that is missing in the final database. A job that was taken back and then cancelled
// ended without a fence: in this case the database's clock decides.
func (c *check) endIsLast(final Final, claims []Event) {
	for _, claim := range claims {
		later := claim.Fence > final.Fence
		if final.Fence == 0 {
			later = claim.DB > final.Finished
		}
		if final.State.Final() && later {
			c.violated(ClaimedAfterEnd, final.Job, "it ended under fence %d, and node %d claimed it under fence %d", final.Fence, claim.Node, claim.Fence)
			return
		}
	}
}

// countsKept checks that each acknowledged failure is counted, that no unreported failure
// is counted, and that acknowledged progress is replaced only by that of a later run.
func (c *check) countsKept(final Final) {
	s := c.stories[final.Job]
	if s == nil {
		return
	}
	failing := func(e Event) bool { return e.Move == fairlead.Again || e.Move == fairlead.Fail }
	reported, acknowledged := map[int64]bool{}, map[int64]bool{}
	for _, e := range s.asked {
		if failing(e) {
			reported[e.Fence] = true
		}
	}
	for _, e := range s.answers {
		if failing(e) && e.Result == OK {
			acknowledged[e.Fence] = true
		}
	}
	if final.Failures < len(acknowledged) || final.Failures > len(reported) {
		c.violated(FailuresOff, final.Job, "%d failures are counted; %d were reported, and %d of them acknowledged", final.Failures, len(reported), len(acknowledged))
	}
	for _, e := range s.saves {
		if e.Result == OK && final.Progress >= 0 && e.Fence > final.Progress {
			c.violated(ProgressReverted, final.Job, "its progress under fence %d was acknowledged, but the database has that of fence %d", e.Fence, final.Progress)
			return
		}
	}
}
