package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// plannerModel runs random operations on schedules and their jobs, and compares the store
// with the oracle after every step. Its exported methods are the steps.
type plannerModel struct {
	*fixture
	oracle *plannerOracle
	node   fairlead.NodeID
	serial int // makes names and instants distinct
}

func testPlannerModel(c *chapter) {
	c.play(2, func(f *fixture, rt *rapid.T) {
		m := &plannerModel{
			fixture: f, node: f.join(),
			oracle: &plannerOracle{now: f.now(), schedules: map[int64]*knownSchedule{}, runs: map[int64]*knownRun{}},
		}
		m.Create(rt)
		rt.Repeat(m.steps())
	})
}

// steps returns the operations by name. Those that create and end runs appear twice, so
// that they are drawn more often.
func (m *plannerModel) steps() map[string]func(*rapid.T) {
	steps := rapid.StateMachineActions(m)
	for _, often := range []string{"Tick", "Act", "Start", "Settle", "Time"} {
		steps[often+" again"] = steps[often]
	}
	return steps
}

// Check compares the schedules and their runs after each step.
func (m *plannerModel) Check(*rapid.T) {
	var want []schedule.Schedule
	for _, s := range m.oracle.living() {
		want = append(want, s.Schedule)
	}
	got := m.schedules(schedule.Filter{})
	slices.SortFunc(got, func(a, b schedule.Schedule) int { return int(a.ID - b.ID) })
	m.equal("the schedules", got, want)
	for id := range m.oracle.schedules {
		m.equal(fmt.Sprint("the runs of schedule ", id), m.findFires(schedule.FireFilter{Schedule: id, Limit: 1000}), m.oracle.fires(id))
	}
}

// Create creates a schedule.
func (m *plannerModel) Create(rt *rapid.T) {
	if len(m.oracle.living()) >= 3 {
		rt.SkipNow()
	}
	m.serial++
	s := m.plan(fmt.Sprint("s", m.serial), dueAt(m.oracle.now.Add(seconds(rt, 0, 2, "due"))))
	m.oracle.schedules[s.ID] = &knownSchedule{Schedule: s}
}

// Change enables or disables a schedule, or changes its cursor.
func (m *plannerModel) Change(rt *rapid.T) {
	known := m.anySchedule(rt)
	s := known.Schedule
	s.Disabled = rapid.IntRange(0, 2).Draw(rt, "disabled") == 0
	s.Cursor = at(m.instant(rt))
	restart := rapid.Bool().Draw(rt, "restart")
	stored, err := m.tryPut(s, restart)
	m.ok(err)
	if !restart {
		s.Cursor = known.Cursor
	}
	m.equal("the cursor", stored.Cursor, s.Cursor)
	m.equal("disabled", stored.Disabled, s.Disabled)
	known.Schedule = stored
}

// Remove deletes a schedule.
func (m *plannerModel) Remove(rt *rapid.T) {
	known := m.anySchedule(rt)
	m.ok(m.store.DeleteSchedule(m.ctx(), known.ID))
	known.deleted = true
	for _, run := range m.oracle.of(known.ID) {
		if run.Queued {
			run.end(fairlead.Cancelled, m.oracle.now)
		}
	}
}

func (m *plannerModel) anySchedule(rt *rapid.T) *knownSchedule {
	living := m.oracle.living()
	if len(living) == 0 {
		rt.SkipNow()
	}
	return living[rapid.IntRange(0, len(living)-1).Draw(rt, "schedule")]
}

// anyRun returns a random run that satisfies meant, if there is one.
func (m *plannerModel) anyRun(rt *rapid.T, meant func(*knownRun) bool) *knownRun {
	runs := m.oracle.those(func(run *knownRun) bool { return !run.gone && meant(run) })
	if len(runs) == 0 {
		rt.SkipNow()
	}
	return runs[rapid.IntRange(0, len(runs)-1).Draw(rt, "run")]
}

// instant returns a random instant, past or future, without a run.
func (m *plannerModel) instant(rt *rapid.T) time.Time {
	m.serial++
	return m.oracle.now.Add(seconds(rt, -2, 2, "instant")).Add(time.Duration(m.serial) * time.Microsecond)
}

// recipe returns a random plan that depends only on the input of the decision.
func (m *plannerModel) recipe(rt *rapid.T) decision {
	cancel, admit := rapid.IntRange(0, 3).Draw(rt, "cancel"), rapid.IntRange(0, 2).Draw(rt, "admit")
	advance := seconds(rt, 0, 2, "advance")
	var planned []schedule.PlannedFire
	for range rapid.IntRange(0, 2).Draw(rt, "runs") {
		planned = append(planned, rapid.SampledFrom([]func(time.Time) schedule.PlannedFire{byHand, queued, skipped}).Draw(rt, "run")(m.instant(rt)))
	}
	twice := rapid.Bool().Draw(rt, "the instant twice")
	return func(s schedule.Schedule, view schedule.View) schedule.Plan {
		plan := schedule.Plan{Fires: slices.Clone(planned), Cursor: at(s.Due.Add(advance))}
		plan.Standing = schedule.Standing{Failures: view.Standing.Failures + len(view.Ended)}
		if !s.FireAt.After(view.Now) && advance > 0 {
			plan.Fires = append(plan.Fires, byClock(s.Due))
			if twice {
				again := byClock(s.Due)
				again.Trigger = schedule.TriggerCatchUp
				plan.Fires = append(plan.Fires, again)
			}
		}
		for i, fire := range view.Active {
			switch {
			case cancel == 1 && i == 0:
				plan.Cancel = append(plan.Cancel, fire.Job)
			case fire.Queued && len(plan.Admit) < admit:
				plan.Admit = append(plan.Admit, fire.Job)
			}
		}
		return plan
	}
}

// wanted returns the runs that a plan creates: only one scheduled run per instant.
func (m *plannerModel) wanted(s *knownSchedule, plan schedule.Plan) []schedule.Fire {
	var want []schedule.Fire
	byClock := map[time.Time]bool{}
	for _, run := range m.oracle.of(s.ID) {
		byClock[run.Due] = byClock[run.Due] || run.Trigger == schedule.TriggerCron
	}
	for _, planned := range plan.Fires {
		if clock := planned.Trigger == schedule.TriggerCron || planned.Trigger == schedule.TriggerCatchUp; clock {
			if byClock[planned.Due] {
				continue
			}
			byClock[planned.Due] = true
		}
		fire := schedule.Fire{
			Schedule: s.ID, Due: planned.Due, Trigger: planned.Trigger, Number: planned.Number, Skip: planned.Skip, Queued: planned.Queued, State: fairlead.Ready,
		}
		switch {
		case fire.Skip != "":
			fire.State, fire.EndedAt = fairlead.Skipped, m.oracle.now
		case fire.Queued:
			fire.State = fairlead.Scheduled
		}
		want = append(want, fire)
	}
	return want
}

// follow applies to the oracle what the store has done for a schedule, and compares the
// created runs.
func (m *plannerModel) follow(s *knownSchedule, seen schedule.View, decide decision, made []schedule.Fire) {
	m.Helper()
	if seen.Room < 1 || seen.Room > schedule.RunsAtOnce {
		m.Fatalf("schedule %d has room for %d runs", s.ID, seen.Room)
	}
	view := m.oracle.view(s)
	view.Room = seen.Room // other clauses cover how schedules share the room
	m.equal(fmt.Sprint("the view of schedule ", s.ID), seen, view)
	plan := decide(s.Schedule, view)
	want := m.wanted(s, plan)
	m.equal("the number of runs", len(made), len(want))
	for i := range made {
		want[i].Job = made[i].Job
	}
	m.equal("the runs", made, want)
	m.oracle.apply(s, plan, made)
}

// Tick acts on all schedules that the oracle considers due.
func (m *plannerModel) Tick(rt *rapid.T) {
	decide := m.recipe(rt)
	seen := map[int64]schedule.View{}
	ticked := m.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
		seen[s.ID] = view
		return decide(s, view)
	})
	due, runs := m.oracle.due(), 0
	for _, s := range due {
		view, asked := seen[s.ID]
		if !asked {
			m.Fatalf("schedule %d was not acted upon", s.ID)
		}
		made := m.fresh(s.ID)
		runs += len(made)
		m.follow(s, view, decide, made)
	}
	m.equal("the number of schedules", len(seen), len(due))
	ticked.Next = max(ticked.Next, -1) // any negative number means none
	m.equal("the tick", ticked, schedule.Ticked{Schedules: len(due), Runs: runs, Next: m.oracle.next()})
}

// fresh returns the runs of a schedule that the oracle does not know, in order.
func (m *plannerModel) fresh(s int64) []schedule.Fire {
	fires := m.findFires(schedule.FireFilter{Schedule: s, Limit: 1000})
	slices.Reverse(fires)
	return slices.DeleteFunc(fires, func(fire schedule.Fire) bool { return m.oracle.runs[fire.Job] != nil })
}

// Act acts on a random schedule.
func (m *plannerModel) Act(rt *rapid.T) {
	known, decide := m.anySchedule(rt), m.recipe(rt)
	var seen schedule.View
	made, err := m.store.Act(m.ctx(), known.ID, func(s schedule.Schedule, view schedule.View) (schedule.Plan, error) {
		seen = view
		return decide(s, view), nil
	})
	m.ok(err)
	m.follow(known, seen, decide, made)
}

// Start claims all ready jobs.
func (m *plannerModel) Start(*rapid.T) {
	ready := m.oracle.those(func(run *knownRun) bool { return run.State == fairlead.Ready && !run.gone })
	claimed := m.claim(m.node, 1000)
	m.equal("how many jobs were claimed", len(claimed), len(ready))
	for _, job := range claimed {
		run := m.oracle.runs[job.ID]
		m.equal("the state before", run.State, fairlead.Ready)
		run.State, run.job = fairlead.Running, job
	}
}

// Settle settles a lease, which may be lost.
func (m *plannerModel) Settle(rt *rapid.T) {
	run := m.anyRun(rt, func(run *knownRun) bool {
		return run.job != nil && (run.State == fairlead.Running || run.State == fairlead.Cancelled)
	})
	end := rapid.SampledFrom([]struct {
		move  fairlead.Move
		state fairlead.State
	}{
		{fairlead.Succeed, fairlead.Succeeded},
		{fairlead.Fail, fairlead.Failed},
		{fairlead.Drop, fairlead.Cancelled},
		{fairlead.MoveRelease, fairlead.Ready},
		{fairlead.MoveAwait, fairlead.Waiting},
	}).Draw(rt, "end")
	settlement := to(end.move, run.job)
	settlement.After = 1000 * time.Hour
	if run.State != fairlead.Running {
		m.wantSettled([]fairlead.Settled{fairlead.SettledLost}, settlement)
		return
	}
	m.settle(settlement)
	if end.state.Final() {
		run.end(end.state, m.oracle.now)
	} else {
		run.State = end.state
	}
	run.job = nil // the store would treat the same settlement as a repetition
}

// Cancel cancels a run that is not running.
func (m *plannerModel) Cancel(rt *rapid.T) {
	run := m.anyRun(rt, func(run *knownRun) bool { return run.Active() && run.State != fairlead.Running })
	m.ok(operations(m.store).Cancel(m.ctx(), run.Job, "unwanted"))
	run.end(fairlead.Cancelled, m.oracle.now)
}

// Retry reopens a failed or cancelled run.
func (m *plannerModel) Retry(rt *rapid.T) {
	run := m.anyRun(rt, func(run *knownRun) bool { return run.Failed() })
	m.ok(operations(m.store).Reopen(m.ctx(), run.Job))
	run.State, run.EndedAt, run.told, run.job = fairlead.Ready, time.Time{}, false, nil
}

// RunNow makes a queued run start.
func (m *plannerModel) RunNow(rt *rapid.T) {
	run := m.anyRun(rt, func(run *knownRun) bool { return run.Queued })
	m.ok(operations(m.store).RunNow(m.ctx(), run.Job))
	run.State, run.Queued = fairlead.Ready, false
}

// Delete deletes a job that is neither running nor waiting.
func (m *plannerModel) Delete(rt *rapid.T) {
	run := m.anyRun(rt, func(run *knownRun) bool {
		return run.told || run.State == fairlead.Scheduled || run.State == fairlead.Ready
	})
	m.ok(operations(m.store).Delete(m.ctx(), run.Job))
	run.gone = true
	if !run.told {
		run.end(fairlead.Cancelled, m.oracle.now)
	}
}

// Time advances the clock.
func (m *plannerModel) Time(rt *rapid.T) {
	d := seconds(rt, 1, 3, "seconds")
	m.Advance(d)
	m.oracle.now = m.oracle.now.Add(d)
	m.equal("the clock", m.now(), m.oracle.now)
}
