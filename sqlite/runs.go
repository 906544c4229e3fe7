package sqlite

import (
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// newRun is a run that is going to be made.
type newRun struct {
	schedule.PlannedFire
	schedule int64
	job      newJob
}

func (r newRun) skipped() bool { return r.Skip != "" }

// makeRuns makes the runs of all plans and returns their jobs, in order.
func (t *txn) makeRuns(agendas []*agenda) ([]int64, error) {
	var runs []newRun
	for _, a := range agendas {
		planned, err := t.newRuns(a)
		if err != nil {
			return nil, err
		}
		runs = append(runs, planned...)
	}
	var made []int64
	for part := runs; len(part) > 0; {
		store, n := t.storeSkip, 1
		if !part[0].skipped() {
			store, n = t.storeRuns, slices.IndexFunc(part, newRun.skipped)
		}
		if n < 0 {
			n = len(part)
		}
		jobs, err := store(part[:n])
		if err != nil {
			return nil, err
		}
		made, part = append(made, jobs...), part[n:]
	}
	for i, run := range runs {
		if err := t.addFire(made[i], &run); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// newRuns are the runs that a plan asks for, without those whose instant has one.
func (t *txn) newRuns(a *agenda) ([]newRun, error) {
	var runs []newRun
	taken := map[int64]bool{}
	for _, planned := range a.plan.Fires {
		if sqlstore.SourceOf(planned.Trigger, 1) == 0 {
			due := sqlstore.Micros(planned.Due)
			var job int64
			has, err := t.one(t.sql.InstantTaken, []any{a.row.ID, due}, &job)
			if err != nil {
				return nil, err
			}
			if has || taken[due] {
				continue
			}
			taken[due] = true
		}
		if planned.Skip != "" {
			a.row.Skipped, planned.Queued = true, false
		}
		job := newJobs([]*fairlead.Job{sqlstore.RunOf(&a.row.Schedule, &planned)})[0]
		job.flags |= sqlstore.FlagFire
		runs = append(runs, newRun{PlannedFire: planned, schedule: a.row.ID, job: job})
	}
	return runs, nil
}

// storeRuns stores the jobs of runs. One that is refused becomes a job that has
// failed, and does not hold up the others.
func (t *txn) storeRuns(runs []newRun) ([]int64, error) {
	jobs := make([]newJob, len(runs))
	for i, run := range runs {
		jobs[i] = run.job
	}
	var ids []int64
	err := t.inSavepoint(func() (err error) {
		ids, err = t.enqueueBounded(jobs)
		return err
	})
	switch {
	case err == nil || !isAnswer(err):
		return ids, err
	case len(runs) == 1:
		return t.storeEnded(jobs[0], end{outcome: sqlstore.OutcomeFailed, reason: fairlead.ReasonError, err: err.Error()})
	}
	ids = ids[:0]
	for i := range runs {
		one, err := t.storeRuns(runs[i : i+1])
		if err != nil {
			return nil, err
		}
		ids = append(ids, one...)
	}
	return ids, nil
}

// storeSkip stores the job of the one run that is only recorded.
func (t *txn) storeSkip(runs []newRun) ([]int64, error) {
	return t.storeEnded(runs[0].job, end{outcome: sqlstore.OutcomeSkipped, err: string(runs[0].Skip)})
}

// storeEnded stores a job that has ended before it began. It holds no key.
func (t *txn) storeEnded(job newJob, e end) ([]int64, error) {
	ids, lanes, err := t.describe([]newJob{job})
	if err != nil {
		return nil, err
	}
	return ids, t.must(1, t.sql.ToDone, ids[0], lanes[0], e.outcome, text(e.reason), 0, 0, 0, 0, 0, 0, t.now, nil, text(sqlstore.CleanText(e.err)))
}

// addFire stores what a job is to its schedule. Of a skip the schedule knows; the
// end of any other run, be it that its job was refused, is still to be told.
func (t *txn) addFire(job int64, run *newRun) error {
	state, endedAt := fairlead.State(""), int64(0)
	if run.skipped() {
		state, endedAt = fairlead.Skipped, t.now
	}
	return t.must(1, t.sql.AddFire, job, run.schedule, sqlstore.Micros(run.Due), sqlstore.SourceOf(run.Trigger, job), string(run.Trigger), run.Number,
		string(run.Skip), run.Queued, !run.skipped(), string(state), endedAt)
}
