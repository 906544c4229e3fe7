package postgres

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// plannedRun is a run about to be made.
type plannedRun struct {
	schedule.PlannedFire
	of      *subject
	job     *fairlead.Job
	id      int64
	refusal error // why its job cannot be stored
}

// carryOut does what was decided, each step for all schedules at once. The jobs
// that end go first: new ones may need what they give back.
func (a *acting) carryOut(ctx context.Context, more ...call) error {
	if err := a.cancelRuns(ctx); err != nil {
		return err
	}
	if err := a.admitRuns(ctx); err != nil {
		return err
	}
	if err := a.addRuns(ctx); err != nil {
		return err
	}
	if err := a.sendAlerts(ctx); err != nil {
		return err
	}
	return a.close(ctx, more...)
}

// cancelRuns ends the jobs of runs whose place others take. A job that was missed
// because it moved meanwhile is looked for again; one that has ended by itself
// stays as it is, and is seen by the next tick.
func (a *acting) cancelRuns(ctx context.Context) error {
	owners := map[int64]*subject{}
	var open []int64
	for _, s := range a.subjects {
		for _, fire := range s.active {
			if slices.Contains(s.plan.Cancel, fire.Job) {
				owners[fire.Job], open = s, append(open, fire.Job)
			}
		}
	}
	slices.Sort(open)
	for len(open) > 0 {
		err := a.in.run(ctx,
			call{
				sql: a.sql.CancelRuns, args: []any{open, string(fairlead.ReasonReplaced), "a later run of its schedule took its place", nil},
				each: func(row sqlstore.Scanner) error {
					var id, at int64
					var ran, freed bool
					err := row.Scan(&id, &at, &ran, &freed)
					a.stopped, a.freed = a.stopped || ran, a.freed || freed
					owners[id].cancelled(id, at)
					return err
				},
			},
			a.leaveCall(ended, &a.gates, open...),
			idsCall(&open, a.sql.LiveRuns, open))
		if err != nil {
			return err
		}
	}
	return nil
}

// cancelled notes that an active run was ended.
func (s *subject) cancelled(job, at int64) {
	i := slices.IndexFunc(s.active, func(fire schedule.Fire) bool { return fire.Job == job })
	fire := s.active[i]
	fire.State, fire.EndedAt = fairlead.Cancelled, sqlstore.Time(at)
	s.active = slices.Delete(s.active, i, i+1)
	s.end(fire)
}

// admitRuns makes queued runs due.
func (a *acting) admitRuns(ctx context.Context) error {
	var schedules, jobs []int64
	for _, s := range a.subjects {
		for _, fire := range s.active {
			if fire.Queued && slices.Contains(s.plan.Admit, fire.Job) {
				schedules, jobs = append(schedules, s.ID), append(jobs, fire.Job)
			}
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return a.in.run(ctx,
		call{sql: a.sql.RunNow, args: []any{jobs}, each: func(row sqlstore.Scanner) error {
			var lane int32
			err := row.Scan(&lane)
			a.admitted = append(a.admitted, lane)
			return err
		}},
		call{sql: a.sql.AdmitFires, args: []any{schedules, jobs}})
}

// addRuns makes new runs and their jobs.
func (a *acting) addRuns(ctx context.Context) error {
	for _, s := range a.subjects {
		for _, planned := range s.plan.Fires {
			a.runs = append(a.runs, &plannedRun{PlannedFire: planned, of: s, job: sqlstore.RunOf(&s.Schedule, &planned)})
		}
	}
	if len(a.runs) == 0 {
		return nil
	}
	if err := a.numberRuns(ctx); err != nil {
		return err
	}
	if err := a.addFires(ctx); err != nil {
		return err
	}
	if err := a.refuseRuns(ctx); err != nil {
		return err
	}
	return a.enqueueRuns(ctx)
}

// numberRuns takes ids under the locks of the schedules, and not from those that
// this process has in store: of two runs of a schedule the later one has the larger
// id, whoever made them.
func (a *acting) numberRuns(ctx context.Context) error {
	ids, err := a.newIDs(ctx, len(a.runs))
	if err != nil {
		return err
	}
	for i, run := range a.runs {
		run.id = ids[i]
	}
	return nil
}

// addFires stores the runs, and forgets those whose instant has one.
func (a *acting) addFires(ctx context.Context) error {
	n := len(a.runs)
	jobs, schedules, due, sources := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	numbers, triggers, skips := make([]int32, n), make([]string, n), make([]string, n)
	for i, run := range a.runs {
		jobs[i], schedules[i], due[i] = run.id, run.of.ID, sqlstore.Micros(run.Due)
		sources[i], numbers[i] = sqlstore.SourceOf(run.Trigger, run.id), int32(run.Number)
		triggers[i], skips[i] = string(run.Trigger), string(run.Skip)
	}
	var added []int64
	err := a.in.run(ctx, idsCall(&added, a.sql.AddFires, jobs, schedules, due, sources, numbers, triggers, skips))
	if err != nil || len(added) == n {
		return err
	}
	slices.Sort(added)
	a.runs = slices.DeleteFunc(a.runs, func(run *plannedRun) bool {
		_, found := slices.BinarySearch(added, run.id)
		return !found
	})
	return nil
}

// refuseRuns finds out which jobs can never be stored, or are more than their
// tenant may have pending.
func (a *acting) refuseRuns(ctx context.Context) error {
	for _, run := range a.runs {
		if run.Args != nil {
			run.refusal = fairlead.NormalizeJobs([]*fairlead.Job{run.job})
		}
		if run.refusal != nil {
			run.job.Args = nil
		}
	}
	pending := map[string]int{}
	for _, run := range a.runs {
		tenant := run.job.Tenant
		if a.bounds[tenant] == 0 || run.Skip != "" || run.refusal != nil {
			continue
		}
		if _, counted := pending[tenant]; !counted {
			n, err := a.countPending(ctx, tenant)
			if err != nil {
				return err
			}
			pending[tenant] = n
		}
		if run.refusal = sqlstore.CheckPending(tenant, pending[tenant], 1, a.bounds[tenant]); run.refusal == nil {
			pending[tenant]++
		}
	}
	return nil
}

func (a *acting) countPending(ctx context.Context, tenant string) (pending int, err error) {
	text, args := a.query.Tally(fairlead.Filter{
		Tenants: []string{tenant}, States: []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked},
	}, sqlstore.Window{})
	if text == "" {
		return 0, nil
	}
	err = a.in.run(ctx, call{sql: text, args: args, each: func(row sqlstore.Scanner) error {
		var state string
		var count int
		err := row.Scan(&state, &count)
		pending += count
		return err
	}})
	return pending, err
}

// enqueueRuns stores the jobs of those runs that are meant to run.
func (a *acting) enqueueRuns(ctx context.Context) error {
	fresh := &newJobs{flags: sqlstore.FlagFire, refused: map[int]error{}}
	var meant []*plannedRun
	for _, run := range a.runs {
		if run.Skip == "" && run.refusal == nil {
			meant = append(meant, run)
			fresh.jobs, fresh.ids = append(fresh.jobs, run.job), append(fresh.ids, run.id)
		}
	}
	if len(meant) == 0 {
		return nil
	}
	if err := a.knowLanesOf(fresh); err != nil {
		return err
	}
	if err := a.enqueueIn(ctx, a.in, fresh); err != nil {
		return err
	}
	a.gates = append(a.gates, fresh.left...)
	var due []int
	for i, run := range meant {
		if run.refusal = fresh.refused[i]; run.refusal == nil && !run.Queued {
			due = append(due, i)
		}
	}
	if len(due) > 0 {
		a.fresh = fresh.part(due)
		a.gates = append(a.gates, a.fresh.gates()...)
	}
	return nil
}
