package sim_test

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim"
)

// lateDamages contains damages of events that are accepted too late, rejected, or taken
// back.
var lateDamages = []damage{
	{name: "a late write is accepted: an end", fault: sim.LateEndAccepted, also: []sim.Fault{sim.EndForgotten, sim.FailuresOff}, do: func(v *victim) bool {
		return v.acceptLateEnd(sim.OK)
	}},
	{name: "a late write is accepted: as if the job had been cancelled", fault: sim.LateEndAccepted, also: []sim.Fault{sim.EndForgotten}, do: func(v *victim) bool {
		return v.acceptLateEnd(sim.Cancelled)
	}},
	{name: "a late write is accepted: a job is given back", fault: sim.LateEndAccepted, do: func(v *victim) bool {
		claims := v.claimedTwice(func(before, _ *sim.Event) bool { return v.the(sim.Asked, before.Job, before.Fence) == nil })
		if claims == nil {
			return false
		}
		late := *claims[0]
		late.At, late.What, late.Move, late.Attempt, late.DB = claims[1].At+1, sim.Asked, fairlead.Snooze, 0, 0
		answer := late
		answer.At, answer.What, answer.Result = late.At+1, sim.Settled, sim.OK
		return v.add(late, answer)
	}},
	{name: "a late write is accepted: progress", fault: sim.LateProgressAccepted, do: func(v *victim) bool {
		e := v.event(sim.Saved, func(e *sim.Event) bool {
			return e.Result == sim.Lost && v.claimedAfter(e.Job, e.Fence, e.Sent)
		})
		if e == nil {
			return false
		}
		v.job, e.Result = e.Job, sim.OK
		f := v.finalOf(e.Job)
		f.Progress = max(f.Progress, e.Fence)
		return true
	}},
	{name: "progress is accepted after the end", fault: sim.ProgressAfterEnd, do: func(v *victim) bool {
		f := v.final(func(f *sim.Final) bool { return v.accepted(f.Job, f.Fence) != nil })
		settled := v.accepted(f.Job, f.Fence)
		v.job, f.Progress = f.Job, f.Fence
		return v.add(sim.Event{At: settled.At + 2, Sent: settled.At + 1, What: sim.Saved, Process: settled.Process, Job: f.Job, Fence: f.Fence, Result: sim.OK})
	}},
	{name: "an end is refused to a living node", fault: sim.EndRefused, do: func(v *victim) bool {
		e := v.event(sim.Settled, func(e *sim.Event) bool {
			return e.Result == sim.OK && v.finalOf(e.Job).Fence == e.Fence && v.confirmed(e)
		})
		if e == nil {
			return false
		}
		v.job, e.Result = e.Job, sim.Lost
		return true
	}},
	{name: "progress is refused to a living node", fault: sim.ProgressRefused, do: func(v *victim) bool {
		e := v.event(sim.Saved, func(e *sim.Event) bool { return e.Result == sim.OK && v.confirmed(e) })
		if e == nil {
			return false
		}
		v.job, e.Result = e.Job, sim.Lost
		return true
	}},
	{name: "the job of a killed node waits though others live", fault: sim.RecoveredLate, also: []sim.Fault{sim.WorkStalled}, do: func(v *victim) bool {
		var next *sim.Event
		if !v.steadyReapers() {
			return false
		}
		held := v.event(sim.Holding, func(e *sim.Event) bool {
			if v.finalOf(e.Job).Fence == e.Fence {
				return false
			}
			claims := v.claims(e.Job)
			i := slices.IndexFunc(claims, func(c *sim.Event) bool { return c.Fence > e.Fence })
			if i < 0 || claims[i].Solo || claims[i].Node == e.Node {
				return false
			}
			next = claims[i]
			return next.DB > e.DB && v.livesOn(next.Node, next.DB) && !v.heldBetween(e, next.Fence)
		})
		if held == nil {
			return false
		}
		v.job = held.Job
		v.delay(next.DB, 3*v.Lease+v.Patience)
		return true
	}},
	{name: "a node declares others dead when it has just joined", fault: sim.ReapedOnArrival, do: func(v *victim) bool {
		seen := map[string]bool{}
		var joined []sim.Event // the first grant of each process
		for _, e := range v.Events {
			if e.What == sim.Granted && !seen[e.Process] {
				seen[e.Process], joined = true, append(joined, e)
			}
		}
		first := joined[v.random.IntN(len(joined))]
		return v.add(sim.Event{At: first.At + 2, Sent: first.At + 1, What: sim.Reaped, Process: first.Process, Node: first.Node, Nodes: 1})
	}},
	{name: "a node declares others dead after a beat of its own failed", fault: sim.ReapedInDoubt, do: func(v *victim) bool {
		e := v.event(sim.Reaped, func(e *sim.Event) bool {
			return e.Nodes > 0 && !v.resumed(e.Process) && !v.happened(sim.Unconfirmed, e.Process) &&
				v.event(sim.Granted, func(g *sim.Event) bool { return g.Process == e.Process && g.Node != e.Node }) == nil
		})
		if e == nil {
			return false
		}
		failed := e.Sent.Add(-2 * v.Beat)
		if looks := v.looksBefore(e); len(looks) > 0 { // then the one before the reap came after the failure
			const trusted = 2 // looks that show it
			if failed = looks[len(looks)-1] - 1; len(looks) <= trusted || looks[len(looks)-1-trusted] < e.Sent.Add(-v.Lease) {
				return false
			}
		}
		return v.add(sim.Event{At: failed, What: sim.Unconfirmed, Process: e.Process, Node: e.Node})
	}},
}

// looksBefore returns when the node of a reap began others before it.
func (v *victim) looksBefore(reaped *sim.Event) (looks []sim.Instant) {
	for _, e := range v.Events {
		if e.What == sim.Reaping && e.Node == reaped.Node && e.At < reaped.Sent {
			looks = append(looks, e.At)
		}
	}
	return looks
}

// acceptLateEnd has a settlement accepted that was refused because another node had
// claimed the job.
func (v *victim) acceptLateEnd(result string) bool {
	e := v.event(sim.Settled, func(e *sim.Event) bool {
		asked := v.the(sim.Asked, e.Job, e.Fence)
		return e.Result == sim.Lost && v.claimedAfter(e.Job, e.Fence, asked.At)
	})
	if e == nil {
		return false
	}
	v.job, e.Result = e.Job, result
	return true
}

// claimedAfter reports whether a job was known to be claimed under a later fence before
// some moment.
func (v *victim) claimedAfter(job, fence int64, before sim.Instant) bool {
	return slices.ContainsFunc(v.claims(job), func(c *sim.Event) bool { return c.Fence > fence && c.At < before })
}

// confirmed reports whether the node of a run that was settled once heard well after an
// event that it still had its lease.
func (v *victim) confirmed(e *sim.Event) bool {
	claim, asked, heard := v.the(sim.Claimed, e.Job, e.Fence), 0, 0
	for _, other := range v.Events {
		if other.What == sim.Asked && other.Job == e.Job && other.Fence == e.Fence {
			asked++
		}
		if claim != nil && other.What == sim.Granted && other.Node == claim.Node && other.At > e.At {
			heard++
		}
	}
	return asked == 1 && heard > 1
}

// livesOn reports whether a node had a lease at some moment, and did something after it.
func (v *victim) livesOn(node fairlead.NodeID, db sim.Instant) bool {
	had, did := false, false
	for _, e := range v.Events {
		had = had || e.What == sim.Granted && e.Node == node && e.DB > db.Add(-v.Lease) && e.DB < db
		did = did || e.Node == node && e.DB >= db
	}
	return had && did
}

// steadyReapers reports whether all nodes that declared others dead had been there for a
// lease, without doubts. (A node that is unsteady for long may do so earlier.)
func (v *victim) steadyReapers() bool {
	return v.event(sim.Reaped, func(reaped *sim.Event) bool {
		from := reaped.Sent.Add(-v.Lease)
		there := v.event(sim.Granted, func(e *sim.Event) bool { return e.Node == reaped.Node && e.At <= from })
		doubt := v.event(sim.Unconfirmed, func(e *sim.Event) bool { return e.Node == reaped.Node && e.At > from && e.At < reaped.Sent })
		return reaped.Nodes > 0 && (there == nil || doubt != nil)
	}) == nil
}

// heldBetween reports whether another node was seen to hold a job in between.
func (v *victim) heldBetween(held *sim.Event, next int64) bool {
	return v.event(sim.Holding, func(e *sim.Event) bool {
		return e.Job == held.Job && e.Fence > held.Fence && e.Fence <= next
	}) != nil
}

// delay delays everything after a certain time, while nodes continue to confirm their
// leases. The processes and the database of these histories share one clock.
func (v *victim) delay(from sim.Instant, d time.Duration) {
	nodes := map[fairlead.NodeID]sim.Event{} // their last grants before
	for _, e := range v.Events {
		if e.What == sim.Granted && e.DB < from && v.livesOn(e.Node, from) {
			nodes[e.Node] = e
		}
	}
	later := func(i *sim.Instant) {
		if *i >= from {
			*i = i.Add(d)
		}
	}
	for i := range v.Events {
		e := &v.Events[i]
		later(&e.At)
		later(&e.DB)
		later(&e.Sent)
	}
	for i := range v.Final {
		later(&v.Final[i].Finished)
	}
	for i := range v.Samples {
		later(&v.Samples[i].DB)
	}
	for _, last := range nodes {
		for passed := d; passed > 0; passed -= v.Beat { // so that their leases end so much later too
			beat := last
			beat.At, beat.DB, beat.Sent = last.At.Add(passed), last.DB.Add(passed), last.Sent.Add(passed)
			v.Events = append(v.Events, beat)
		}
	}
}

// timeDamages are of what happens too early.
var timeDamages = []damage{
	{name: "a job is claimed before it is due", fault: sim.ClaimedEarly, do: func(v *victim) bool {
		e := v.event(sim.Claimed, func(e *sim.Event) bool { return v.Due[e.Job] != 0 && v.claims(e.Job)[0] == e })
		if e == nil {
			return false
		}
		v.job, v.Due[e.Job] = e.Job, e.DB+1
		return true
	}},
	{name: "a job runs again before its pause is over", fault: sim.RetriedEarly, do: func(v *victim) bool {
		if !v.unlimited() {
			return false
		}
		claims := v.claimedTwice(func(before, _ *sim.Event) bool {
			return v.fails(before.Job, before.Fence) && v.Expected[before.Job].State != ""
		})
		if claims == nil {
			return false
		}
		claims[1].At = v.the(sim.Asked, claims[0].Job, claims[0].Fence).At.Add(v.Pause / 2)
		return true
	}},
}
