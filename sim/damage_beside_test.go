package sim_test

import (
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sim"
	"github.com/fairlead-io/fairlead/sweep"
)

// besideDamages are of schedules, batches and sweeps.
var besideDamages = []damage{
	{name: "an instant is not fired", fault: sim.InstantMissed, do: func(v *victim) bool {
		f := draw(v, v.Fires, anyFire)
		if f == nil {
			return false
		}
		job := f.Job
		v.Fires = slices.DeleteFunc(v.Fires, func(f sim.Fired) bool { return f.Job == job })
		v.Final = slices.DeleteFunc(v.Final, func(f sim.Final) bool { return f.Job == job })
		v.Events = slices.DeleteFunc(v.Events, func(e sim.Event) bool { return e.Job == job })
		delete(v.Expected, job)
		for i := range v.Samples {
			v.Samples[i].Jobs = min(v.Samples[i].Jobs, int64(len(v.Expected)))
		}
		return true
	}},
	{name: "an instant is fired twice", fault: sim.InstantTwice, do: func(v *victim) bool { return v.fireAgain(func(*sim.Fired) {}) }},
	{name: "an instant is fired after the end", fault: sim.InstantNotDue, do: func(v *victim) bool {
		return v.fireAgain(func(f *sim.Fired) { f.Due = v.Span.To })
	}},
	{name: "an instant is fired between two", fault: sim.InstantNotDue, do: func(v *victim) bool {
		return v.fireAgain(func(f *sim.Fired) { f.Due += 500_000 })
	}},
	{name: "a schedule that is not there fires", fault: sim.InstantNotDue, also: []sim.Fault{sim.InstantMissed}, do: func(v *victim) bool {
		f := draw(v, v.Fires, anyFire)
		if f == nil {
			return false
		}
		f.Schedule = slices.Max(v.Schedules) + 1
		return true
	}},
	{name: "an instant is skipped", fault: sim.InstantSkipped, do: changeFire(func(f *sim.Fired) { f.Skip = schedule.SkipOverlap })},
	{name: "an instant is fired by hand", fault: sim.TriggerNotAsked, do: changeFire(func(f *sim.Fired) { f.Trigger = schedule.TriggerManual })},

	{name: "a task of a batch is cancelled", fault: sim.BatchEndedWrong, do: changeBatch(func(_ *victim, b *sim.EndedBatch) {
		b.State = batch.PartialFail
		*done(b, &b.Listed)--
		b.Listed.Cancel++
		b.Tally = b.Listed
	})},
	{name: "a batch is not rolled back", fault: sim.BatchEndedWrong, also: []sim.Fault{sim.TargetsOff}, do: func(v *victim) bool {
		b := draw(v, v.Batches, func(b *sim.EndedBatch) bool { return b.Undone })
		if b == nil {
			return false
		}
		b.State, b.Tally = batch.Success, batch.Tally{Success: b.Tasks}
		b.Listed = b.Tally
		return true
	}},
	{name: "the tally of a batch is off by one", fault: sim.TallyOff, do: changeBatch(func(v *victim, b *sim.EndedBatch) {
		*done(b, &b.Tally) += 2*v.random.IntN(2) - 1
	})},
	{name: "a target of a batch is left as it was", fault: sim.TargetsOff, do: changeBatch(func(_ *victim, b *sim.EndedBatch) {
		for held := range maps.Clone(b.Targets) {
			b.Targets[held]--
			b.Targets["something else"]++
		}
	})},

	{name: "a sweep skips an item", fault: sim.ItemSkipped, also: []sim.Fault{sim.MarkTooFar}, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		item := v.random.Int64N(s.Items)
		s.Notes = slices.DeleteFunc(s.Notes, func(n sim.Note) bool { return n.What == sim.ItemBegun && n.Value == item })
		return true
	})},
	{name: "a mark is stored before the items are done", fault: sim.MarkTooFar, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		// The item is handled once, and that in the end.
		item := v.random.Int64N(s.Items)
		isIt := func(n sim.Note) bool { return n.What == sim.ItemBegun && n.Value == item }
		begun := s.Notes[slices.IndexFunc(s.Notes, isIt)]
		s.Notes = append(slices.DeleteFunc(s.Notes, isIt), begun)
		return true
	})},
	{name: "a mark is seen to move backwards", fault: sim.MarkWentBack, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		i := v.random.IntN(len(s.Seen))
		before := s.Seen[i]
		before.Mark--
		s.Seen = slices.Insert(s.Seen, i+1, before)
		return before.Mark >= 0
	})},
	{name: "a late checkpoint is stored", fault: sim.LateCheckpoint, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		stored, _ := v.tookOver(s)
		if stored == nil {
			return false
		}
		again := *stored
		sent := again
		sent.What = sim.CheckpointSent
		s.Notes = append(s.Notes, sent, again)
		return true
	})},
	{name: "a stored checkpoint is forgotten", fault: sim.CheckpointReverted, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		stored, next := v.tookOver(s)
		if stored == nil {
			return false
		}
		next.Value = stored.Value - 1
		return true
	})},
	{name: "a sweep does not finish", fault: sim.SweepNotFinished, do: changeSweep(func(_ *victim, s *sim.SweepRecord) bool {
		s.Sweep.State = sweep.Running
		return true
	})},
	{name: "a sweep counts an item too few", fault: sim.SweepCountsOff, do: changeSweep(func(_ *victim, s *sim.SweepRecord) bool {
		s.Sweep.Done--
		return true
	})},
	{name: "a sweep counts an item as failed that was done", fault: sim.SweepCountsOff, do: changeSweep(func(_ *victim, s *sim.SweepRecord) bool {
		s.Sweep.Done--
		s.Sweep.Abandoned++
		return true
	})},
	{name: "a sweep lists an item as failed that was done", fault: sim.FailedItemsOff, do: changeSweep(func(_ *victim, s *sim.SweepRecord) bool {
		s.Failed = append(s.Failed, s.Items-1)
		return true
	})},
	{name: "a sweep does not list an item that failed", fault: sim.FailedItemsOff, do: changeSweep(func(v *victim, s *sim.SweepRecord) bool {
		i := v.random.IntN(len(s.Failed))
		s.Failed = slices.Delete(s.Failed, i, i+1)
		return true
	})},
}

func anyFire(*sim.Fired) bool { return true }

// changeFire damages one run of a schedule.
func changeFire(change func(*sim.Fired)) func(*victim) bool {
	return func(v *victim) bool {
		f := draw(v, v.Fires, anyFire)
		if f == nil {
			return false
		}
		v.job = f.Job
		change(f)
		return true
	}
}

// fireAgain makes another run like one that there was, at an instant that change may
// change.
func (v *victim) fireAgain(change func(*sim.Fired)) bool {
	f := draw(v, v.Fires, anyFire)
	if f == nil {
		return false
	}
	again := *f
	again.Job = v.copyJob(f.Job)
	change(&again)
	v.Fires = append(v.Fires, again)
	return true
}

// changeBatch damages one batch.
func changeBatch(change func(*victim, *sim.EndedBatch)) func(*victim) bool {
	return func(v *victim) bool {
		b := draw(v, v.Batches, func(*sim.EndedBatch) bool { return true })
		if b == nil {
			return false
		}
		change(v, b)
		return true
	}
}

// done returns the count of tasks that ended as required.
func done(b *sim.EndedBatch, tally *batch.Tally) *int {
	if b.Undone {
		return &tally.RollbackSuccess
	}
	return &tally.Success
}

// changeSweep damages the sweep.
func changeSweep(change func(*victim, *sim.SweepRecord) bool) func(*victim) bool {
	return func(v *victim) bool { return v.Swept != nil && change(v, v.Swept) }
}

// tookOver draws a checkpoint that was stored, the last under its fence, and one that was
// sent under a later fence of the shard.
func (v *victim) tookOver(s *sim.SweepRecord) (stored, next *sim.Note) {
	for i := range slices.Backward(s.Notes) {
		next = draw(v, s.Notes, func(n *sim.Note) bool {
			return n.What == sim.CheckpointSent && n.Shard == s.Notes[i].Shard && n.Fence > s.Notes[i].Fence
		})
		if s.Notes[i].What == sim.CheckpointStored && next != nil {
			return &s.Notes[i], next
		}
	}
	return nil, nil
}
