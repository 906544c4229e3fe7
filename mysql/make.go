package mysql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// newRun is a run that is being made.
type newRun struct {
	schedule *lockedSchedule
	planned  *schedule.PlannedFire
	job      *fairlead.Job
	id       int64
	refusal  error // why its job cannot be stored
}

// makeRuns makes the planned runs of all schedules.
func (p *planning) makeRuns(ctx context.Context) ([]schedule.Fire, error) {
	runs, err := p.newRuns(ctx)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	jobs := make([]*fairlead.Job, len(runs))
	for i, run := range runs {
		jobs[i] = run.job
	}
	ids, err := p.prepare(ctx, jobs)
	if err != nil {
		return nil, err
	}
	for i, run := range runs {
		run.id = ids[i]
	}
	if err := p.refusePending(ctx, runs); err != nil {
		return nil, err
	}
	if err := p.storeRuns(ctx, runs); err != nil {
		return nil, p.idsTaken(err)
	}
	lanes, err := p.guardLanes(jobs)
	if err != nil {
		return nil, err
	}
	if p.now, err = p.clockAt(ctx, lanes); err != nil {
		return nil, err
	}
	if err := p.storeEnded(ctx, runs, lanes); err != nil {
		return nil, p.idsTaken(err)
	}
	return p.noteRuns(ctx, runs)
}

// instant is what runs by the clock and to catch up share.
type instant struct{ schedule, due int64 }

// newRuns are the planned runs, without those whose instants have one.
func (p *planning) newRuns(ctx context.Context) ([]*newRun, error) {
	asked := tuples{json: true}
	taken := map[instant]bool{}
	shared := func(run *newRun) (instant, bool) {
		return instant{run.schedule.ID, sqlstore.Micros(run.planned.Due)}, sqlstore.SourceOf(run.planned.Trigger, -1) == 0
	}
	var wanted, runs []*newRun
	for _, s := range p.schedules {
		for i := range s.plan.Fires {
			run := &newRun{schedule: s, planned: &s.plan.Fires[i]}
			run.job = sqlstore.RunOf(&s.Schedule, run.planned)
			wanted = append(wanted, run)
			if at, shares := shared(run); shares {
				asked.add().ints(at.schedule, at.due).end()
			}
		}
	}
	err := p.eachRows(ctx, func(row *sql.Rows) error {
		var at instant
		err := row.Scan(&at.schedule, &at.due)
		taken[at] = true
		return err
	}, p.sql.TakenInstants, &asked)
	if err != nil {
		return nil, err
	}
	for _, run := range wanted {
		at, shares := shared(run)
		if shares && taken[at] {
			continue
		}
		taken[at] = taken[at] || shares
		runs = append(runs, run)
	}
	return runs, nil
}

// refusePending refuses jobs of tenants that have as many as they may.
func (p *planning) refusePending(ctx context.Context, runs []*newRun) error {
	pending := map[string]int{}
	for _, run := range runs {
		tenant := run.job.Tenant
		bound := p.bounds[tenant]
		if bound <= 0 || run.planned.Skip != "" {
			continue
		}
		if _, counted := pending[tenant]; !counted {
			count, err := p.countPending(ctx, tenant)
			if err != nil {
				return err
			}
			pending[tenant] = count
		}
		if run.refusal = sqlstore.CheckPending(tenant, pending[tenant], 1, bound); run.refusal == nil {
			pending[tenant]++
		}
	}
	return nil
}

// countPending counts the pending jobs of a tenant.
func (p *planning) countPending(ctx context.Context, tenant string) (pending int, err error) {
	filter := fairlead.Filter{Tenants: []string{tenant}, States: []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked}}
	if err := p.knowLanes(ctx, filter); err != nil {
		return 0, err
	}
	statement, args := p.query.Tally(filter, sqlstore.Window{})
	if statement == "" {
		return 0, nil
	}
	err = p.each(ctx, func(row *sql.Rows) error {
		var state string
		var n int
		err := row.Scan(&state, &n)
		pending += n
		return err
	}, statement, args...)
	return pending, err
}

// storeRuns stores the jobs that are to run. Those with keys are stored together
// if all of their keys are free, else one by one, so that one that is refused
// does not keep out others.
func (p *planning) storeRuns(ctx context.Context, runs []*newRun) error {
	var free, keyed []*newRun
	for _, run := range runs {
		switch {
		case run.planned.Skip != "" || run.refusal != nil:
		case run.job.Key != "":
			keyed = append(keyed, run)
		default:
			free = append(free, run)
		}
	}
	if err := p.storeAll(ctx, free); err != nil || len(keyed) == 0 {
		return err
	}
	err := p.storeOrUndo(ctx, keyed)
	if !errors.Is(err, fairlead.ErrConflict) {
		return err
	}
	for _, run := range keyed {
		err := p.storeOrUndo(ctx, []*newRun{run})
		if errors.Is(err, fairlead.ErrConflict) {
			run.refusal = err
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *planning) storeOrUndo(ctx context.Context, runs []*newRun) error {
	return p.inSavepoint(ctx, "fairlead_runs", func() error { return p.storeAll(ctx, runs) })
}

func (p *planning) storeAll(ctx context.Context, runs []*newRun) error {
	jobs, ids := make([]*fairlead.Job, len(runs)), make([]int64, len(runs))
	for i, run := range runs {
		jobs[i], ids[i] = run.job, run.id
	}
	return p.enqueue(ctx, jobs, ids)
}

// storeEnded stores the jobs that never run: those that are skipped, and those
// that were refused.
func (p *planning) storeEnded(ctx context.Context, runs []*newRun, lanes *laneGuard) error {
	fresh := newJobs{now: p.now, fires: true}
	m := moves{now: p.now}
	for _, run := range runs {
		e := end{outcome: sqlstore.OutcomeSkipped, err: string(run.planned.Skip)}
		switch {
		case run.refusal != nil:
			e = end{outcome: sqlstore.OutcomeFailed, reason: fairlead.ReasonError, err: run.refusal.Error()}
		case run.planned.Skip == "":
			continue
		}
		lane := lanes.of(run.job)
		fresh.add(run.job, run.id, lane)
		m.ended(&placed{id: run.id, lane: lane}, e)
	}
	if err := p.insert(ctx, p.sql.InsertJobs, &fresh.special); err != nil {
		return err
	}
	return p.write(ctx, &m)
}

// noteRuns notes the runs. All but those that are skipped are open: one that was
// refused has ended after its schedule was decided upon, which is news.
func (p *planning) noteRuns(ctx context.Context, runs []*newRun) ([]schedule.Fire, error) {
	var fires, open tuples
	made := make([]schedule.Fire, len(runs))
	for i, run := range runs {
		fire := run.fire(p.now)
		made[i] = fire
		due, trigger := sqlstore.Micros(fire.Due), string(fire.Trigger)
		fires.add().ints(fire.Job, fire.Schedule, due, sqlstore.SourceOf(fire.Trigger, fire.Job)).str(trigger).int(int64(fire.Number)).str(string(fire.Skip)).end()
		if fire.Skip != "" {
			run.schedule.Skipped = true
			continue
		}
		open.add().ints(fire.Job, fire.Schedule, due).str(trigger).int(int64(fire.Number)).end()
	}
	if err := p.insert(ctx, p.sql.AddFires, &fires); err != nil {
		return nil, err
	}
	return made, p.insert(ctx, p.sql.OpenFires, &open)
}

// fire is the run as it was made.
func (r *newRun) fire(now int64) schedule.Fire {
	fire := schedule.Fire{
		Job: r.id, Schedule: r.schedule.ID, Due: sqlstore.Time(sqlstore.Micros(r.planned.Due)), Trigger: r.planned.Trigger,
		Number: r.planned.Number, Skip: r.planned.Skip,
	}
	switch {
	case r.planned.Skip != "":
		fire.State, fire.EndedAt = fairlead.Skipped, sqlstore.Time(now)
	case r.refusal != nil:
		fire.State, fire.EndedAt = fairlead.Failed, sqlstore.Time(now)
	case r.planned.Queued:
		fire.State, fire.Queued = fairlead.Scheduled, true
	case r.job.ConcurrencyKey != "":
		fire.State = fairlead.Parked
	default:
		fire.State = fairlead.Ready
	}
	return fire
}
