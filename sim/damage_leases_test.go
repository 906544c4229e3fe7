package sim_test

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim"
)

// leaseDamages are of claims, and of what the database shows of them.
var leaseDamages = []damage{
	{name: "a fence is given twice", fault: sim.FenceTwice, do: func(v *victim) bool {
		return v.claimAgain(func(_, last int64) int64 { return last })
	}},
	{name: "a fence goes back", fault: sim.FenceWentBack, also: []sim.Fault{sim.TwoLiveLeases}, do: func(v *victim) bool {
		return v.claimAgain(func(first, _ int64) int64 { return first - 1 })
	}},
	{name: "an attempt number is given twice", fault: sim.AttemptRepeated, do: func(v *victim) bool {
		claims := v.claimedTwice(func(before, _ *sim.Event) bool {
			asked := v.the(sim.Asked, before.Job, before.Fence)
			return !poisoned(v.finalOf(before.Job)) && (asked == nil || asked.Move != fairlead.MoveRelease)
		})
		if claims == nil {
			return false
		}
		last := claims[1]
		last.Attempt = claims[0].Attempt
		for i := range v.Events {
			if e := &v.Events[i]; e.What == sim.Started && e.Job == last.Job && e.Fence == last.Fence {
				e.Attempt = last.Attempt
			}
		}
		if f := v.finalOf(last.Job); f.Fence == last.Fence {
			f.Attempt = last.Attempt
		}
		return true
	}},
	{name: "a handler starts under an old fence", fault: sim.StartedLate, do: func(v *victim) bool {
		var first *sim.Event
		last := v.event(sim.Started, func(e *sim.Event) bool {
			first = v.event(sim.Started, func(before *sim.Event) bool {
				return before.Job == e.Job && before.Fence < e.Fence && !v.resumed(before.Process)
			})
			return first != nil
		})
		if last == nil {
			return false
		}
		again := *first
		v.job, again.At = again.Job, last.At+1
		return v.add(again)
	}},
	{name: "a node starts a handler without a claim", fault: sim.StartedUnclaimed, do: func(v *victim) bool {
		e := v.event(sim.Started, func(*sim.Event) bool { return true })
		v.job = e.Job
		e.Node++
		return true
	}},
	{name: "a node claims that has not joined", fault: sim.StrangerClaimed, do: func(v *victim) bool {
		e := v.event(sim.Claimed, func(e *sim.Event) bool { return v.accepted(e.Job, e.Fence) != nil })
		const stranger = 1_000_000
		v.moveTo(e, stranger)
		return true
	}},
	{name: "a node claims whose lease is over", fault: sim.DeadClaimed, also: []sim.Fault{sim.StartedLate}, do: func(v *victim) bool {
		var dead fairlead.NodeID
		e := v.event(sim.Claimed, func(e *sim.Event) bool {
			dead = v.deadAt(e.DB)
			return dead != 0 && v.accepted(e.Job, e.Fence) != nil && len(v.claims(e.Job)) == 1 && !v.killed(e.Process)
		})
		if e == nil {
			return false
		}
		v.moveTo(e, dead)
		return true
	}},
	{name: "two live leases", fault: sim.TwoLiveLeases, do: func(v *victim) bool {
		if !v.unlimited() {
			return false
		}
		var sooner *sim.Event
		claims := v.claimedTwice(func(before, after *sim.Event) bool {
			if v.the(sim.Asked, before.Job, before.Fence) != nil {
				return false
			}
			// The next node lives while the lease of the one before does.
			sooner = v.event(sim.Granted, func(e *sim.Event) bool {
				return e.Node == after.Node && e.DB > before.DB && e.At > before.At && v.livedAt(before.Node, e.DB) && !v.savedAfter(before, e.At)
			})
			return sooner != nil
		})
		if claims == nil {
			return false
		}
		claims[1].At, claims[1].DB = sooner.At+1, sooner.DB+1
		return true
	}},
	{name: "a refused settlement ends a lease", fault: sim.TwoLiveLeases, also: []sim.Fault{sim.EndRefused}, do: func(v *victim) bool {
		claims := v.claimedTwice(func(before, after *sim.Event) bool {
			return v.fails(before.Job, before.Fence) && v.livedAt(before.Node, after.DB)
		})
		if claims == nil {
			return false
		}
		v.accepted(claims[0].Job, claims[0].Fence).Result = sim.Lost
		return true
	}},
	{name: "the database names another node than the one that claimed", fault: sim.HeldByAnother, do: func(v *victim) bool {
		e := v.event(sim.Holding, func(e *sim.Event) bool { return v.the(sim.Claimed, e.Job, e.Fence) != nil })
		if e == nil {
			return false
		}
		v.job = e.Job
		e.Node++
		return true
	}},
	{name: "a snapshot lacks a job", fault: sim.SnapshotLacksJobs, do: func(v *victim) bool {
		v.Samples[v.random.IntN(len(v.Samples))].Jobs = int64(len(v.Expected)-len(v.Fires)) - 1
		return true
	}},
	{name: "a snapshot has a job twice", fault: sim.SnapshotRepeatsJobs, do: func(v *victim) bool {
		v.Samples[v.random.IntN(len(v.Samples))].Jobs = int64(len(v.Expected)) + 1
		return true
	}},
	{name: "a snapshot shows an old fence", fault: sim.SnapshotFenceBack, do: func(v *victim) bool {
		for _, i := range v.random.Perm(len(v.Samples) - 1) {
			for job, fence := range v.Samples[i].Running {
				v.job, v.Samples[i+1].Running[job] = job, fence-1
				return true
			}
		}
		return false
	}},
	{name: "a snapshot shows a fence that is gone in the end", fault: sim.SnapshotFenceUnended, do: func(v *victim) bool {
		f := v.final(anyFinal)
		v.job, v.Samples[len(v.Samples)-1].Running[f.Job] = f.Job, f.Fence+1
		return true
	}},
	{name: "a cap is exceeded by one for one microsecond", fault: sim.CapExceeded, do: func(v *victim) bool {
		// Of two jobs of a tenant that may have one, the second is claimed just before
		// the first is settled.
		var first *sim.Event
		second := v.event(sim.Claimed, func(e *sim.Event) bool {
			if v.Caps.Tenants[v.Tenants[e.Job]] != 1 || v.claims(e.Job)[0] != e {
				return false
			}
			first = nil
			for i := range v.Events {
				before := &v.Events[i]
				if before.What == sim.Asked && before.At < e.At && before.Job != e.Job && v.Tenants[before.Job] == v.Tenants[e.Job] {
					first = before
				}
			}
			if first == nil || v.accepted(first.Job, first.Fence) == nil {
				return false
			}
			held := v.the(sim.Claimed, first.Job, first.Fence)
			return held.At < first.At-1 && v.livedAt(held.Node, first.At)
		})
		if second == nil {
			return false
		}
		second.At = first.At - 1
		return true
	}},
	{name: "a gate admits another job while one backs off", fault: sim.GateExceeded, do: func(v *victim) bool {
		if v.Caps.PerKey == 0 {
			return false
		}
		var run []*sim.Event // of the other job: its only one
		failed := v.event(sim.Claimed, func(e *sim.Event) bool {
			if !v.fails(e.Job, e.Fence) {
				return false
			}
			other := v.final(func(f *sim.Final) bool {
				return f.Job != e.Job && v.Tenants[f.Job] == v.Tenants[e.Job] && v.Due[f.Job] == 0 && v.accepted(f.Job, f.Fence) != nil
			})
			if other == nil {
				return false
			}
			run = nil
			for i := range v.Events {
				if e := &v.Events[i]; e.Job == other.Job {
					run = append(run, e)
				}
			}
			const claimedToSettled = 5
			return len(run) == claimedToSettled
		})
		if failed == nil {
			return false
		}
		at := v.the(sim.Asked, failed.Job, failed.Fence).At
		for i, e := range run {
			e.At, e.Process, e.Node = at+sim.Instant(i+1), failed.Process, failed.Node
			if e.DB != 0 {
				e.DB = e.At
			}
		}
		v.finalOf(run[0].Job).Finished = at
		return true
	}},
}

// claimedTwice draws a job that was claimed more than once and whose last two claims fit.
func (v *victim) claimedTwice(fit func(before, after *sim.Event) bool) (last []*sim.Event) {
	f := draw(v, v.Final, func(f *sim.Final) bool {
		claims := v.claims(f.Job)
		if len(claims) < 2 {
			return false
		}
		last = claims[len(claims)-2:]
		return fit(last[0], last[1])
	})
	if f == nil {
		return nil
	}
	v.job = f.Job
	return last
}

// moveTo makes a run that of another node.
func (v *victim) moveTo(claim *sim.Event, node fairlead.NodeID) {
	v.job = claim.Job
	for i := range v.Events {
		if e := &v.Events[i]; e.Job == claim.Job && e.Fence == claim.Fence && e.Node != 0 {
			e.Node = node
		}
	}
}

// deadAt draws a node whose lease had expired at some time on the database's clock without
// the node doubting it. It returns zero if there is none.
func (v *victim) deadAt(db sim.Instant) fairlead.NodeID {
	last, doubted := map[fairlead.NodeID]sim.Instant{}, map[fairlead.NodeID]bool{}
	for _, e := range v.Events {
		switch e.What {
		case sim.Granted:
			last[e.Node] = max(last[e.Node], e.DB)
		case sim.Unconfirmed:
			doubted[e.Node] = true
		}
	}
	for node, granted := range last {
		if !doubted[node] && db > granted.Add(2*v.Lease) {
			return node
		}
	}
	return 0
}

// livedAt reports whether the lease of a node lasted well beyond some moment. The
// processes and the database of these histories have one clock.
func (v *victim) livedAt(node fairlead.NodeID, db sim.Instant) bool {
	const well = 100 * time.Millisecond
	for _, e := range v.Events {
		if e.What == sim.Granted && e.Node == node && e.DB <= db && e.DB.Add(v.Lease-well) > db {
			return true
		}
	}
	return false
}

// savedAfter reports whether progress of a run counted that was sent after some moment.
func (v *victim) savedAfter(claim *sim.Event, at sim.Instant) bool {
	return v.event(sim.Saved, func(e *sim.Event) bool {
		return e.Job == claim.Job && e.Fence == claim.Fence && e.Result == sim.OK && e.Sent >= at
	}) != nil
}

// resumed reports whether a process ever went on after it had stood still.
func (v *victim) resumed(process string) bool { return v.happened(sim.Resumed, process) }

// killed reports whether a process was killed.
func (v *victim) killed(process string) bool { return v.happened(sim.Killed, process) }

func (v *victim) happened(what sim.What, process string) bool {
	return v.event(what, func(e *sim.Event) bool { return e.Process == process }) != nil
}
