package schedule

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// usualGrace is how late nodes act upon an instant that was not missed, unless they have
// other leases than the default.
const usualGrace = 20 * time.Second

// foresight is a schedule on its way through time: Decide is asked at each moment at which a
// node would act.
type foresight struct {
	schedule Schedule
	view     View
	record   Record // what is remembered of its runs
	fake     int64  // of the last run that was made up
	found    []foreseen
}

// foreseen is an instant and what becomes of it.
type foreseen struct {
	due time.Time
	Prospect
}

// foresee returns what becomes of the next n instants, see ScheduleForecast. It fails if the
// schedule cannot be read.
func (s Schedule) foresee(v View, n int) ([]foreseen, error) {
	v.days = daysOf(v.Calendar) // which may take as long as many decisions
	f := &foresight{schedule: s, view: v, record: Record{Last: v.Last, Skipped: v.Skipped}}
	for range 2 * n { // a step without an instant only searches for the next
		if s.Disabled || len(f.found) >= n {
			break
		}
		before := f.schedule.upToDate(f.view).Cursor
		f.view.Now = latest(f.view.Now, before.FireAt)
		plan, err := f.schedule.Decide(f.view, usualGrace)
		if err != nil {
			return nil, err
		}
		if f.follow(plan); plan.Cursor == before && len(plan.Fires)+len(plan.Admit)+len(plan.Cancel) == 0 {
			break // it waits for the end of a run, or is over
		}
	}
	return f.found[:min(n, len(f.found))], nil
}

// follow does what a plan says, without a store. What begins ends before the next step.
func (f *foresight) follow(plan Plan) {
	var ended []Fire
	f.view.Active = slices.DeleteFunc(slices.Clone(f.view.Active), func(run Fire) bool {
		switch {
		case slices.Contains(plan.Cancel, run.Job):
			f.end(run, fairlead.Cancelled)
			return true
		case slices.Contains(plan.Admit, run.Job):
			ended = append(ended, run)
			return true
		}
		return false
	})
	cancels := len(plan.Cancel)
	for _, planned := range slices.Backward(plan.Fires) {
		found := foreseen{due: planned.Due, Prospect: Prospect{FireAt: f.view.Now, Trigger: planned.Trigger, Skip: planned.Skip, Queued: planned.Queued}}
		if planned.Skip == "" {
			found.Cancels, cancels = cancels, 0 // of several instants only the last takes the place of earlier runs
		}
		f.found = append(f.found, found)
	}
	slices.Reverse(f.found[len(f.found)-len(plan.Fires):])
	for _, planned := range plan.Fires {
		f.fake--
		run := Fire{Job: f.fake, Schedule: f.schedule.ID, Due: planned.Due, Trigger: planned.Trigger, Number: planned.Number, Queued: planned.Queued, State: fairlead.Scheduled}
		switch {
		case planned.Skip != "":
			f.record.Skipped = true
		case planned.Queued:
			f.view.Active = append(f.view.Active, run)
		default:
			ended = append(ended, run)
		}
	}
	for _, run := range ended {
		f.end(run, fairlead.Succeeded)
	}
	f.schedule.Cursor = plan.Cursor
	f.view.Ended, f.view.Standing, f.view.Last, f.view.Skipped = nil, plan.Standing, f.record.Last, f.record.Skipped
}

// end notes that a run has ended.
func (f *foresight) end(run Fire, state fairlead.State) {
	run.State, run.EndedAt, run.Queued = state, f.view.Now, false
	f.record.ended(run)
}
