package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// hourly returns a schedule of plain jobs that is due now.
func (f *fixture) hourly(name string, changes ...func(*schedule.Schedule)) schedule.Schedule {
	f.Helper()
	s := schedule.Schedule{Name: name, Every: time.Hour, Job: fairlead.Job{Kind: kind}, Cursor: at(f.now())}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// at returns the cursor of a schedule that is due at a time.
func at(due time.Time) schedule.Cursor { return schedule.Cursor{Due: due, FireAt: due} }

func disabled(s *schedule.Schedule) { s.Disabled = true }

func dueAt(due time.Time) func(*schedule.Schedule) {
	return func(s *schedule.Schedule) { s.Cursor = at(due) }
}

// making sets the job of a schedule.
func making(changes ...func(*fairlead.Job)) func(*schedule.Schedule) {
	return func(s *schedule.Schedule) { s.Job = *with(changes...) }
}

// tryPut calls schedule.Store.PutSchedule with the defaults of the job filled in, like the
// client.
func (f *fixture) tryPut(s schedule.Schedule, restart bool) (schedule.Schedule, error) {
	f.Helper()
	f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&s.Job}))
	return f.store.PutSchedule(f.ctx(), s, restart)
}

// put stores a schedule and returns it as stored.
func (f *fixture) put(s schedule.Schedule) schedule.Schedule {
	f.Helper()
	stored, err := f.tryPut(s, false)
	f.ok(err)
	return stored
}

// plan stores a schedule that is due now.
func (f *fixture) plan(name string, changes ...func(*schedule.Schedule)) schedule.Schedule {
	f.Helper()
	return f.put(f.hourly(name, changes...))
}

func (f *fixture) schedules(filter schedule.Filter) []schedule.Schedule {
	f.Helper()
	list, err := f.store.Schedules(f.ctx(), filter)
	f.ok(err)
	return list
}

// schedule reads a schedule that has not been deleted.
func (f *fixture) schedule(id int64) schedule.Schedule {
	f.Helper()
	found := f.schedules(schedule.Filter{IDs: []int64{id}})
	if len(found) != 1 {
		f.Fatalf("%d schedules have the ID %d", len(found), id)
	}
	return found[0]
}

func scheduleNames(list []schedule.Schedule) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

// fires returns the runs of a schedule, newest first.
func (f *fixture) fires(s int64) []schedule.Fire {
	f.Helper()
	return f.findFires(schedule.FireFilter{Schedule: s})
}

func (f *fixture) findFires(filter schedule.FireFilter) []schedule.Fire {
	f.Helper()
	fires, err := f.store.Fires(f.ctx(), filter)
	f.ok(err)
	return fires
}

// fire returns the run with the given job.
func (f *fixture) fire(job int64) schedule.Fire {
	f.Helper()
	found := f.findFires(schedule.FireFilter{Jobs: []int64{job}})
	if len(found) != 1 {
		f.Fatalf("%d runs have the job %d", len(found), job)
	}
	return found[0]
}

func fireJobs(fires []schedule.Fire) []int64 {
	list := make([]int64, len(fires))
	for i, fire := range fires {
		list[i] = fire.Job
	}
	return list
}

// decision is the type of the function passed to Tick.
type decision = func(schedule.Schedule, schedule.View) schedule.Plan

// enough is a limit for Tick that no test reaches.
const enough = 200

func (f *fixture) tick(decide decision) schedule.Ticked {
	f.Helper()
	return f.tickSome(enough, decide)
}

func (f *fixture) tickSome(limit int, decide decision) schedule.Ticked {
	f.Helper()
	ticked, err := f.store.Tick(f.ctx(), limit, decide)
	f.ok(err)
	return ticked
}

// leave plans nothing.
func leave(s schedule.Schedule, _ schedule.View) schedule.Plan {
	return schedule.Plan{Cursor: s.Cursor}
}

// runIt plans a run of the due instant, and advances the cursor by an hour.
func runIt(s schedule.Schedule, _ schedule.View) schedule.Plan {
	return schedule.Plan{Fires: []schedule.PlannedFire{byClock(s.Due)}, Cursor: at(s.Due.Add(time.Hour))}
}

// byClock returns a scheduled run of an instant.
func byClock(due time.Time) schedule.PlannedFire {
	return schedule.PlannedFire{Due: due, Trigger: schedule.TriggerCron, Number: 1}
}

// byHand returns a manually triggered run.
func byHand(due time.Time) schedule.PlannedFire {
	return schedule.PlannedFire{Due: due, Trigger: schedule.TriggerManual, Number: 1}
}

// queued returns a run that waits for an earlier one.
func queued(due time.Time) schedule.PlannedFire {
	return schedule.PlannedFire{Due: due, Trigger: schedule.TriggerManual, Number: 1, Queued: true}
}

// skipped returns a run that is only recorded.
func skipped(due time.Time) schedule.PlannedFire {
	return schedule.PlannedFire{Due: due, Trigger: schedule.TriggerManual, Number: 1, Skip: schedule.SkipOverlap}
}

// act carries out a plan with the cursor of the schedule.
func (f *fixture) act(s schedule.Schedule, plan schedule.Plan) []schedule.Fire {
	f.Helper()
	fires, err := f.store.Act(f.ctx(), s.ID, func(s schedule.Schedule, _ schedule.View) (schedule.Plan, error) {
		plan.Cursor = s.Cursor
		return plan, nil
	})
	f.ok(err)
	return fires
}

// make creates one run.
func (f *fixture) make(s schedule.Schedule, planned schedule.PlannedFire) schedule.Fire {
	f.Helper()
	fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{planned}})
	if len(fires) != 1 {
		f.Fatalf("%d runs were made instead of one", len(fires))
	}
	return fires[0]
}

// view returns the input of a decision about the schedule. Ended runs count as processed
// after that.
func (f *fixture) view(s schedule.Schedule) (view schedule.View) {
	f.Helper()
	_, err := f.store.Act(f.ctx(), s.ID, func(s schedule.Schedule, seen schedule.View) (schedule.Plan, error) {
		view = seen
		return schedule.Plan{Cursor: s.Cursor}, nil
	})
	f.ok(err)
	return view
}

// jobOf returns the job of a run as created.
func jobOf(fire schedule.Fire) *fairlead.Job { return &fairlead.Job{ID: fire.Job} }

// started claims the job of a run, which must be the next one.
func (f *fixture) started(fire schedule.Fire) *fairlead.Job {
	f.Helper()
	return f.claimThe(jobOf(fire), f.join())
}

// ended ends the job of a run.
func (f *fixture) ended(fire schedule.Fire, move fairlead.Move) {
	f.Helper()
	f.settle(to(move, f.started(fire)))
}

// forgetSchedules deletes all schedules and calendars.
func (f *fixture) forgetSchedules() error {
	schedules, err := f.store.Schedules(f.ctx(), schedule.Filter{Limit: 2 * tooMany})
	if err != nil {
		return err
	}
	for _, s := range schedules {
		if err := f.store.DeleteSchedule(f.ctx(), s.ID); err != nil {
			return err
		}
	}
	calendars, err := f.store.Calendars(f.ctx())
	if err != nil {
		return err
	}
	for _, calendar := range calendars {
		if err := f.store.DeleteCalendar(f.ctx(), calendar.Name); err != nil {
			return err
		}
	}
	return nil
}
