package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// tickChunk is how many schedules one transaction acts on at most, so that no caller waits
// for long.
const tickChunk = 500

// Tick acts on schedules that are due, schedules whose runs have ended, and schedules whose
// calendars have changed.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	return s.features.Tick(ctx, min(limit, tickChunk), decide)
}

// runTx is a transaction that acts on schedules and their runs: a sqlstore.RunTx. The write
// lock of the file is the lock of the schedules.
type runTx struct {
	*jobTx
	db *txnDB
}

// ActOnSchedules implements sqlstore.Scheduling. A Refusal is no failure of the transaction.
func (d database) ActOnSchedules(ctx context.Context, verb string, turn *sqlstore.ScheduleTurn) error {
	refused, err := inTx(ctx, d.Store, verb, func(t *txn) (refusal, error) {
		db := t.db()
		err := turn.Do(t.ctx, &runTx{jobTx: &jobTx{DB: db, t: t}, db: db})
		if err == nil {
			err = db.Flush(t.ctx)
		}
		if errors.As(err, new(sqlstore.Refusal)) {
			return refusal{err}, nil
		}
		return refusal{}, err
	})
	if err == nil && refused.err != nil {
		err = fmt.Errorf("%s: %w", verb, refused.err)
	}
	return err
}

// WaitBriefly implements sqlstore.RunTx: there is one writer.
func (r *runTx) WaitBriefly(context.Context) error { return nil }

// Must implements sqlstore.RunTx.
func (r *runTx) Must(rows int, statement string, args ...any) { r.db.Must(rows, statement, args...) }

// Reserve implements sqlstore.RunTx: the transaction has the counter.
func (r *runTx) Reserve(int) {}

// Number implements sqlstore.RunTx.
func (r *runTx) Number(_ context.Context, jobs []*fairlead.Job) error {
	first, err := r.t.next(jobCounter, int64(len(jobs)))
	for i, job := range jobs {
		job.ID = first + int64(i)
	}
	return err
}

// Pending implements sqlstore.RunTx.
func (r *runTx) Pending(_ context.Context, tenant string) (bound, pending int, err error) {
	return r.t.bound(tenant)
}

// CancelRuns implements sqlstore.RunTx. A job that is running gets a fence that no node has,
// so that its node is too late to settle it.
func (r *runTx) CancelRuns(_ context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	t, cancelled := r.t, make(map[int64]time.Time, len(jobs))
	for _, job := range jobs {
		p, err := t.locate(job)
		if err != nil {
			return nil, err
		}
		if p.state == fairlead.Running {
			if p.fence, err = t.next(fenceCounter, 1); err != nil {
				return nil, err
			}
			t.wakes.cancel = true
		}
		if err := t.finish(p, end{outcome: sqlstore.OutcomeCancelled, reason: fairlead.ReasonReplaced, err: because}); err != nil {
			return nil, err
		}
		cancelled[job] = sqlstore.Time(t.now)
	}
	return cancelled, nil
}

// AdmitRuns implements sqlstore.RunTx.
func (r *runTx) AdmitRuns(_ context.Context, runs []schedule.Fire) error {
	jobs := make([]int64, len(runs))
	for i, fire := range runs {
		jobs[i] = fire.Job
		p, err := r.t.locate(fire.Job)
		if err != nil {
			return err
		}
		if err := r.t.runNow(p); err != nil {
			return err
		}
	}
	return r.t.must(int64(len(jobs)), r.t.sql.AdmitFires, idList(jobs))
}

// newRuns are jobs of runs as they are going to be stored.
func newRuns(jobs []*fairlead.Job) []newJob {
	runs := newJobs(jobs)
	for i, job := range jobs {
		runs[i].id = job.ID
		runs[i].flags |= sqlstore.FlagFire
	}
	return runs
}

// EnqueueRuns implements sqlstore.RunTx.
func (r *runTx) EnqueueRuns(_ context.Context, jobs []*fairlead.Job, refused map[int]error) error {
	runs := newRuns(jobs)
	free, keyed := sqlstore.SplitKeyed(jobs, refused)
	for _, i := range keyed {
		_, err := r.t.enqueueKeyed(runs[i : i+1])
		if err != nil && !isAnswer(err) {
			return err
		}
		if err != nil {
			refused[i] = err
		}
	}
	if len(free) == 0 {
		return nil
	}
	stored := make([]newJob, len(free))
	for n, i := range free {
		stored[n] = runs[i]
	}
	_, err := r.t.insert(stored)
	return err
}

// RecordRuns implements sqlstore.RunTx.
func (r *runTx) RecordRuns(_ context.Context, ended []schedule.EndedJob) error {
	t, jobs := r.t, make([]*fairlead.Job, len(ended))
	for i, e := range ended {
		jobs[i] = e.Job
	}
	ids, lanes, err := t.describe(newRuns(jobs))
	if err != nil {
		return err
	}
	for i, e := range ended {
		err := t.must(1, t.sql.ToDone, ids[i], lanes[i], sqlstore.OutcomeOf(e.State), text(e.Reason), 0, 0, 0, 0, 0, 0, t.now, nil, text(sqlstore.CleanText(e.Error)))
		if err != nil {
			return err
		}
	}
	return nil
}
