package sim_test

import (
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sim"
)

// endDamages contains damages of the final states of jobs.
var endDamages = []damage{
	{name: "a job is lost", fault: sim.JobVanished, do: func(v *victim) bool {
		v.job = v.final(anyFinal).Job
		v.Final = slices.DeleteFunc(v.Final, func(f sim.Final) bool { return f.Job == v.job })
		return true
	}},
	{name: "a job is stored twice", fault: sim.JobStoredTwice, do: func(v *victim) bool {
		f := draw(v, v.Final, anyFinal)
		v.job, v.Final = f.Job, append(v.Final, *f)
		return true
	}},
	{name: "a job comes from nowhere", fault: sim.JobFromNowhere, do: func(v *victim) bool {
		f := *v.final(anyFinal)
		v.job = v.copyJob(f.Job)
		delete(v.Expected, v.job)
		return v.unlimited()
	}},
	{name: "a job comes from nowhere, runs and vanishes", fault: sim.JobFromNowhere, do: func(v *victim) bool {
		f := v.final(func(f *sim.Final) bool { return len(v.claims(f.Job)) > 0 })
		v.job = v.copyJob(f.Job)
		delete(v.Expected, v.job)
		v.Final = v.Final[:len(v.Final)-1]
		return v.unlimited()
	}},
	{name: "a job never ends", fault: sim.JobNotEnded, do: func(v *victim) bool {
		f := v.final(anyFinal)
		v.job, f.State = f.Job, fairlead.Ready
		return true
	}},
	{name: "the job of a task or of a shard never ends", fault: sim.JobNotEnded, do: func(v *victim) bool {
		f := draw(v, v.Final, func(f *sim.Final) bool { return f.Other })
		if f == nil {
			return false
		}
		v.job, f.State = f.Job, fairlead.Running
		return true
	}},
	{name: "a job that is to succeed fails", fault: sim.WrongEnd, do: func(v *victim) bool {
		f := v.final(succeeded)
		v.job, f.Ending = f.Job, sim.Ending{State: fairlead.Failed, Reason: fairlead.ReasonFatal}
		return true
	}},
	{name: "a job is taken for poison", fault: sim.WrongEnd, do: func(v *victim) bool {
		f := v.final(func(f *sim.Final) bool { return f.Reason != fairlead.ReasonPoison })
		v.job, f.Ending = f.Job, sim.Ending{State: fairlead.Failed, Reason: fairlead.ReasonPoison}
		return true
	}},
	{name: "a job succeeds whose handler failed", fault: sim.EndNotReached, do: func(v *victim) bool {
		f := v.final(succeeded)
		v.job, v.the(sim.Ended, f.Job, f.Fence).Result = f.Job, sim.Failing
		return true
	}},
	{name: "a job succeeds under a fence that did not run", fault: sim.EndNotReached, do: func(v *victim) bool {
		f := v.final(succeeded)
		v.job = f.Job
		f.Fence++
		return true
	}},
	{name: "a job ends in an attempt that did not run", fault: sim.EndNotStarted, do: func(v *victim) bool {
		f := v.final(succeeded)
		v.job = f.Job
		f.Attempt++
		return true
	}},
	{name: "an acknowledged end is forgotten, and the job runs again", fault: sim.EndForgotten, do: func(v *victim) bool {
		e := v.event(sim.Settled, func(e *sim.Event) bool {
			return v.fails(e.Job, e.Fence) && v.Expected[e.Job].State == fairlead.Succeeded
		})
		if e == nil {
			return false
		}
		v.job, e.Move = e.Job, fairlead.Succeed
		for i := range v.Events {
			if asked := &v.Events[i]; asked.What == sim.Asked && asked.Job == e.Job && asked.Fence == e.Fence {
				asked.Move = fairlead.Succeed
			}
		}
		v.finalOf(e.Job).Failures--
		return true
	}},
	{name: "the end of a job is acknowledged that is poison later", fault: sim.EndForgotten, do: func(v *victim) bool {
		f := v.final(poisoned)
		if f == nil {
			return false
		}
		v.job = f.Job
		last := v.the(sim.Claimed, f.Job, f.Fence)
		return v.add(sim.Event{At: last.At + 1, What: sim.Settled, Process: last.Process, Job: f.Job, Fence: f.Fence, Move: fairlead.Succeed, Result: sim.OK})
	}},
	{name: "a job is claimed that has ended", fault: sim.ClaimedAfterEnd, do: func(v *victim) bool {
		return v.claimAgain(func(_, last int64) int64 { return last + 1 })
	}},
	{name: "a failure is counted that was not reported", fault: sim.FailuresOff, do: func(v *victim) bool {
		f := v.final(func(f *sim.Final) bool {
			return len(v.failures(sim.Asked, f.Job)) == f.Failures && !poisoned(f)
		})
		v.job = f.Job
		f.Failures++
		return true
	}},
	{name: "an acknowledged failure is not counted", fault: sim.FailuresOff, do: func(v *victim) bool {
		f := v.final(func(f *sim.Final) bool { return f.Failures > 0 && len(v.failures(sim.Settled, f.Job)) == f.Failures })
		if f == nil {
			return false
		}
		v.job = f.Job
		f.Failures--
		return true
	}},
	{name: "a job is poison after too few crashes", fault: sim.PoisonTooSoon, do: func(v *victim) bool {
		f := v.final(poisoned)
		if f == nil {
			return false
		}
		v.job, f.Attempt = f.Job, v.Crashes-1
		return true
	}},
	{name: "acknowledged progress is gone", fault: sim.ProgressReverted, do: func(v *victim) bool {
		return v.revertProgress(func(*sim.Final) int64 { return 0 })
	}},
	{name: "progress of an earlier run replaces that of a later one", fault: sim.ProgressReverted, do: func(v *victim) bool {
		return v.revertProgress(func(f *sim.Final) int64 { return v.claims(f.Job)[0].Fence - 1 })
	}},
}

func anyFinal(*sim.Final) bool { return true }

func succeeded(f *sim.Final) bool { return f.State == fairlead.Succeeded }

func poisoned(f *sim.Final) bool { return f.Reason == fairlead.ReasonPoison }

// failures returns the fences with which a job was reported as failed, or observed to have
// failed.
func (v *victim) failures(what sim.What, job int64) map[int64]bool {
	fences := map[int64]bool{}
	for _, e := range v.Events {
		if e.Job == job && e.What == what && e.Result != sim.Lost && (e.Move == fairlead.Again || e.Move == fairlead.Fail) {
			fences[e.Fence] = true
		}
	}
	return fences
}

// revertProgress gives a job the progress of another fence than of the last that was
// acknowledged.
func (v *victim) revertProgress(fence func(*sim.Final) int64) bool {
	f := v.final(func(f *sim.Final) bool {
		saved := v.the(sim.Saved, f.Job, f.Progress)
		return f.Progress > 0 && saved != nil && saved.Result == sim.OK
	})
	if f == nil {
		return false
	}
	v.job, f.Progress = f.Job, fence(f)
	return true
}
