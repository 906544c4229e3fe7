package storetest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// plannerOracle computes the expected state of schedules and their runs after any
// operations.
type plannerOracle struct {
	now       time.Time
	schedules map[int64]*knownSchedule // including deleted ones
	runs      map[int64]*knownRun      // by job
}

type knownSchedule struct {
	schedule.Schedule
	deleted  bool
	last     *schedule.Fire
	skipped  bool
	standing schedule.Standing
}

type knownRun struct {
	schedule.Fire
	told bool          // the schedule has processed the end of the run
	gone bool          // the job was deleted
	job  *fairlead.Job // job as last claimed
}

// living returns the schedules that were not deleted, ordered by ID.
func (o *plannerOracle) living() []*knownSchedule {
	var living []*knownSchedule
	for _, id := range slices.Sorted(maps.Keys(o.schedules)) {
		if !o.schedules[id].deleted {
			living = append(living, o.schedules[id])
		}
	}
	return living
}

// of returns the runs of a schedule, oldest first.
func (o *plannerOracle) of(schedule int64) []*knownRun {
	return o.those(func(run *knownRun) bool { return run.Schedule == schedule })
}

// those returns the runs that satisfy meant, oldest first.
func (o *plannerOracle) those(meant func(*knownRun) bool) []*knownRun {
	var runs []*knownRun
	for _, job := range slices.Sorted(maps.Keys(o.runs)) {
		if meant(o.runs[job]) {
			runs = append(runs, o.runs[job])
		}
	}
	return runs
}

// news reports whether a schedule has yet to process the end of a run.
func (o *plannerOracle) news(s *knownSchedule) bool {
	return slices.ContainsFunc(o.of(s.ID), func(run *knownRun) bool { return !run.told && !run.Active() })
}

// due returns the schedules that a tick must act on.
func (o *plannerOracle) due() []*knownSchedule {
	return slices.DeleteFunc(o.living(), func(s *knownSchedule) bool {
		due := !s.Disabled && !s.FireAt.IsZero() && !s.FireAt.After(o.now)
		return !due && !o.news(s)
	})
}

// next returns the time until a schedule is due.
func (o *plannerOracle) next() time.Duration {
	next := time.Duration(-1)
	for _, s := range o.living() {
		if s.Disabled || s.FireAt.IsZero() {
			continue
		}
		if wait := max(0, s.FireAt.Sub(o.now)); next < 0 || wait < next {
			next = wait
		}
	}
	return next
}

// tell makes the schedule process the end of a run.
func (s *knownSchedule) tell(run *knownRun) {
	run.told = true
	if s.last == nil || !run.Due.Before(s.last.Due) {
		ended := run.Fire
		s.last, s.skipped = &ended, false
	}
}

// view makes the schedule process all ended runs, and returns the input of a decision.
func (o *plannerOracle) view(s *knownSchedule) schedule.View {
	view := schedule.View{Now: o.now}
	news := map[int64]bool{}
	for _, run := range o.of(s.ID) {
		switch {
		case run.Active():
			view.Active = append(view.Active, run.Fire)
		case !run.told:
			if run.gone {
				run.State, run.EndedAt = fairlead.Cancelled, o.now
			}
			s.tell(run)
			news[run.Job] = true
			ended := run.Fire
			ended.Queued = false
			view.Ended = append(view.Ended, ended)
		}
	}
	slices.SortFunc(view.Ended, func(a, b schedule.Fire) int {
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), a.Due.Compare(b.Due), cmp.Compare(a.Job, b.Job))
	})
	view.Last, view.Skipped, view.Standing = s.last, s.skipped, s.standing
	if s.last != nil && o.runs[s.last.Job] != nil && o.runs[s.last.Job].Active() { // the last run was retried
		view.Last = o.newest(s.ID, news)
	}
	return view
}

// newest returns the run with the newest instant among those that have ended and are either
// new or still readable.
func (o *plannerOracle) newest(schedule int64, news map[int64]bool) *schedule.Fire {
	ended := o.those(func(run *knownRun) bool {
		return run.Schedule == schedule && run.told && (!run.gone || news[run.Job]) && run.Skip == ""
	})
	if len(ended) == 0 {
		return nil
	}
	return &slices.MaxFunc(ended, func(a, b *knownRun) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Job, b.Job))
	}).Fire
}

// apply carries out a plan; made are the runs created by the store.
func (o *plannerOracle) apply(s *knownSchedule, plan schedule.Plan, made []schedule.Fire) {
	for _, job := range plan.Cancel {
		run := o.runs[job]
		run.Queued = false
		run.end(fairlead.Cancelled, o.now)
		s.tell(run)
	}
	for _, job := range plan.Admit {
		if run := o.runs[job]; run.Queued {
			run.State, run.Queued = fairlead.Ready, false
		}
	}
	for _, fire := range made {
		o.runs[fire.Job] = &knownRun{Fire: fire, told: fire.Skip != ""}
		s.skipped = s.skipped || fire.Skip != ""
	}
	s.Cursor, s.standing = plan.Cursor, plan.Standing
}

func (r *knownRun) end(state fairlead.State, now time.Time) {
	r.State, r.EndedAt, r.Queued = state, now, false
}

// fires returns the readable runs of a schedule, newest first.
func (o *plannerOracle) fires(s int64) []schedule.Fire {
	var fires []schedule.Fire
	for _, run := range o.of(s) {
		if !run.gone {
			fires = append([]schedule.Fire{run.Fire}, fires...)
		}
	}
	return fires
}
