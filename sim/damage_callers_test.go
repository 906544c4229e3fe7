package sim_test

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim"
)

// callerDamages contains damages of work beside open transactions, and of work in them.
var callerDamages = []damage{
	{name: "a job waits for six heartbeats though nothing holds it", fault: sim.WorkStalled, do: func(v *victim) bool { return v.stall(6) }},
	{name: "a job waits until its node has beaten for long", fault: sim.WorkStalled, do: func(v *victim) bool { return v.stall(8) }},
	{name: "what a caller committed is gone", fault: sim.CommitForgotten, do: func(v *victim) bool {
		committed := v.event(sim.Committed, func(*sim.Event) bool { return true })
		if committed == nil {
			return false
		}
		v.job = committed.Job
		v.Final = slices.DeleteFunc(v.Final, func(f sim.Final) bool { return f.Job == v.job })
		v.Events = slices.DeleteFunc(v.Events, func(e sim.Event) bool { return e.Job == v.job && e.What != sim.Committed })
		return true
	}},
	{name: "what a caller rolled back is there", fault: sim.RollbackForgotten, do: func(v *victim) bool {
		undone := v.event(sim.RolledBack, func(*sim.Event) bool { return true })
		if undone == nil {
			return false
		}
		v.job = undone.Job
		v.Final = append(v.Final, sim.Final{Job: v.job, Ending: sim.Ending{State: fairlead.Succeeded}, Fence: 1, Attempt: 1, Other: true})
		return true
	}},
}

// stall lets a job that no node died with end after so many beats of a node.
func (v *victim) stall(beats int) bool {
	if v.Hold == 0 {
		return false
	}
	claims := map[int64]int{}
	granted := map[fairlead.NodeID][]sim.Instant{}
	for _, e := range v.Events {
		switch e.What {
		case sim.Claimed, sim.Holding:
			claims[e.Job]++
		case sim.Granted:
			granted[e.Node] = append(granted[e.Node], e.DB)
		}
	}
	for _, times := range granted {
		slices.Sort(times)
		stalled := draw(v, v.Final, func(f *sim.Final) bool {
			due, known := v.Due[f.Job]
			after, _ := slices.BinarySearch(times, due+1)
			return known && claims[f.Job] == 1 && f.Attempt == 1 && len(times) >= after+beats && steady(times[after:after+beats], v.Lease, v.Beat)
		})
		if stalled == nil {
			continue
		}
		after, _ := slices.BinarySearch(times, v.Due[stalled.Job]+1)
		v.job, stalled.Finished = stalled.Job, times[after+beats-1]+1
		return true
	}
	return false
}

// steady reports whether no beat was missed, and none came out of turn.
func steady(times []sim.Instant, lease, beat time.Duration) bool {
	for i := 1; i < len(times); i++ {
		if gap := times[i].Sub(times[i-1]); gap > lease/2 || gap < beat/2 {
			return false
		}
	}
	return true
}
