package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// testHeldSchedules covers schedules that need a key or a run locked by an open transaction
// of a caller: only these schedules wait for it.
func testHeldSchedules(c *chapter) {
	for _, ends := range []ending{commits, rollsBack} {
		testHeldKey(c, ends)
		testHeldRun(c, ends)
	}
}

// holding is a schedule that waits for a transaction, next to others that do not.
type holding struct {
	*fixture
	held   schedule.Schedule
	others []schedule.Schedule
	decide decision
}

// holding stores the schedules. The held one is in the middle, so that a tick processes it
// together with others.
func (f *fixture) holding(changes ...func(*schedule.Schedule)) *holding {
	f.Helper()
	h := &holding{fixture: f, decide: replaceActive}
	h.others = append(h.others, f.plan("before"))
	h.held = f.plan("held", changes...)
	for n := range 3 {
		h.others = append(h.others, f.plan(fmt.Sprint("behind", n), making(keyed(fmt.Sprint("free", n)))))
	}
	return h
}

// replaceActive plans a run that replaces all active ones, and releases queued ones.
func replaceActive(s schedule.Schedule, view schedule.View) schedule.Plan {
	plan := schedule.Plan{Cursor: s.Cursor}
	if s.FireAt.After(view.Now) {
		return plan
	}
	for _, fire := range view.Active {
		plan.Cancel = append(plan.Cancel, fire.Job)
	}
	plan.Fires, plan.Cursor = []schedule.PlannedFire{byClock(s.Due)}, at(s.Due.Add(time.Hour))
	return plan
}

// runs returns the number of runs of a schedule.
func (h *holding) runs(s schedule.Schedule) int { return len(h.fires(s.ID)) }

// goesOn ticks in two processes until all other schedules have the given number of runs,
// and checks that the held one has fewer.
func (h *holding) goesOn(runs int) {
	h.Helper()
	h.eventually("the other schedules run", func() bool {
		h.tick(h.decide)
		h.other().tick(h.decide)
		return !slices.ContainsFunc(h.others, func(s schedule.Schedule) bool { return h.runs(s) < runs })
	})
	for _, s := range h.others {
		h.equal("the runs of "+s.Name, h.runs(s), runs)
	}
	h.equal("the runs of the held schedule", h.runs(h.held), runs-1)
}

// goesOnToo ticks in two processes until the held schedule has the given number of runs,
// and checks that it gets no more.
func (h *holding) goesOnToo(runs int) {
	h.Helper()
	h.eventually("the held schedule runs", func() bool {
		h.tick(h.decide)
		h.other().tick(h.decide)
		return h.runs(h.held) >= runs
	})
	for range 3 {
		h.tick(h.decide)
		h.other().tick(h.decide)
	}
	for _, s := range append(h.others, h.held) {
		h.equal("the runs of "+s.Name, h.runs(s), runs)
	}
}

func testHeldKey(c *chapter, ends ending) {
	c.test(named("a schedule whose key a transaction holds delays no other, and fires once when the transaction", ends), func(f *fixture) {
		h := f.holding(making(keyed("k")))
		tx := f.beginLocking()
		f.enqueueIn(tx, with(keyed("k")))
		h.goesOn(1)
		f.ok(ends.end(tx))
		h.goesOnToo(1)
		f.equal("its run", f.fires(h.held.ID)[0].State, ends.become(fairlead.Failed, fairlead.Ready))
	})
	c.test(named("Tick names the schedule and the key that a transaction holds which then", ends), func(f *fixture) {
		h := f.holding(making(keyed("k")))
		tx := f.beginLocking()
		f.enqueueIn(tx, with(keyed("k")))
		var waiting schedule.Waiting
		f.eventually("Tick names the schedule", func() bool {
			for _, waiting = range f.tick(h.decide).Waiting {
				if waiting.Tries > 0 {
					return true
				}
			}
			return false
		})
		f.equal("the schedule", waiting.Schedule, h.held.ID)
		f.equal("its name", waiting.Name, "held")
		f.equal("its key", waiting.Key, "k")
		f.ok(ends.end(tx))
		h.goesOnToo(1)
	})
}

func testHeldRun(c *chapter, ends ending) {
	c.test(named("a schedule that replaces a run which a transaction settles delays no other, and fires once when the transaction", ends), func(f *fixture) {
		h := f.holding()
		h.goesOnToo(1)
		first := f.fires(h.held.ID)[0]
		var job *fairlead.Job
		for _, claimed := range f.claim(f.join(), len(h.others)+1) {
			if claimed.ID == first.Job {
				job = claimed
			}
		}
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, success(job, `1`))
		f.Advance(time.Hour)
		h.goesOn(2)
		f.ok(ends.end(tx))
		h.goesOnToo(2)
		f.wantState(job, ends.become(fairlead.Succeeded, fairlead.Cancelled))
	})
	c.test(named("a schedule that lets a queued run go which a transaction replaces delays no other, and the run goes if the transaction", ends), func(f *fixture) {
		h := f.holding(making(keyed("k")))
		h.decide = func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan := replaceActive(s, view)
			if s.ID == h.held.ID {
				plan.Cancel = nil
				for _, fire := range view.Active {
					plan.Admit = append(plan.Admit, fire.Job)
				}
				plan.Fires = slices.DeleteFunc(plan.Fires, func(schedule.PlannedFire) bool { return len(view.Active) > 0 })
				for i := range plan.Fires {
					plan.Fires[i].Queued = true
				}
			}
			return plan
		}
		f.tick(h.decide)
		run := f.fires(h.held.ID)[0]
		f.wantState(jobOf(run), fairlead.Scheduled)
		tx := f.replaceIn("k")
		f.Advance(time.Hour)
		h.goesOn(2)
		f.ok(ends.end(tx))
		f.eventually("the held schedule goes on", func() bool {
			f.tick(h.decide)
			f.other().tick(h.decide)
			return f.schedule(h.held.ID).FireAt.After(f.now())
		})
		f.wantState(jobOf(run), ends.become(fairlead.Cancelled, fairlead.Ready))
	})
}
