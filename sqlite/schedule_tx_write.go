package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Cancel implements schedule.Tx. A job that is running gets a fence that no node has, so
// that its node is too late to settle it.
func (s *scheduleTx) Cancel(_ context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	t, cancelled := s.txn, make(map[int64]time.Time, len(jobs))
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

// Admit implements schedule.Tx.
func (s *scheduleTx) Admit(_ context.Context, runs []schedule.Fire) error {
	jobs := make([]int64, len(runs))
	for i, fire := range runs {
		jobs[i] = fire.Job
		p, err := s.txn.locate(fire.Job)
		if err != nil {
			return err
		}
		if err := s.txn.runNow(p); err != nil {
			return err
		}
	}
	return s.txn.must(int64(len(jobs)), s.txn.sql.AdmitFires, idList(jobs))
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

// Enqueue implements schedule.Tx.
func (s *scheduleTx) Enqueue(_ context.Context, jobs []*fairlead.Job) (map[int]error, error) {
	t := s.txn
	refused, err := sqlstore.RefusePending(jobs, t.bound)
	if err != nil {
		return nil, err
	}
	var free []newJob
	for i, job := range newRuns(jobs) {
		switch {
		case refused[i] != nil:
		case !job.keyed():
			free = append(free, job)
		default:
			_, err := t.enqueueKeyed([]newJob{job})
			if err != nil && !isAnswer(err) {
				return nil, err
			}
			if err != nil {
				refused[i] = err
			}
		}
	}
	if len(free) > 0 {
		_, err = t.insert(free)
	}
	return refused, err
}

// Record implements schedule.Tx.
func (s *scheduleTx) Record(_ context.Context, ended []schedule.EndedJob) error {
	t, jobs := s.txn, make([]*fairlead.Job, len(ended))
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

// Alert implements schedule.Tx.
func (s *scheduleTx) Alert(_ context.Context, jobs []*fairlead.Job) error {
	_, err := s.txn.enqueue(newJobs(jobs))
	return err
}

// AddFires implements schedule.Tx. A skip is not news for its schedule; the end of any
// other run is, also if its job was refused.
func (s *scheduleTx) AddFires(_ context.Context, runs []schedule.Fire) error {
	rows := make([][]any, len(runs))
	for i, fire := range runs {
		open, state, endedAt := 1, "", int64(0)
		if fire.Skip != "" {
			open, state, endedAt = 0, string(fire.State), sqlstore.Micros(fire.EndedAt)
		}
		rows[i] = []any{
			fire.Job, fire.Schedule, sqlstore.Micros(fire.Due), sqlstore.SourceOf(fire.Trigger, fire.Job), fire.Trigger, fire.Number, fire.Skip,
			fire.Queued, open, state, endedAt,
		}
	}
	return s.txn.must(int64(len(runs)), s.txn.sql.AddFires, jsonOf(rows))
}

// CloseFires implements schedule.Tx.
func (s *scheduleTx) CloseFires(_ context.Context, runs []schedule.Fire) error {
	var kept [][]any
	var gone []int64
	for _, fire := range runs {
		if s.gone[fire.Job] {
			gone = append(gone, fire.Job)
		} else {
			kept = append(kept, []any{fire.Job, fire.State, sqlstore.Micros(fire.EndedAt)})
		}
	}
	if len(gone) > 0 {
		if err := s.txn.must(int64(len(gone)), s.txn.sql.DropFires, idList(gone)); err != nil {
			return err
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return s.txn.must(int64(len(kept)), s.txn.sql.CloseFires, jsonOf(kept))
}

// Advance implements schedule.Tx.
func (s *scheduleTx) Advance(_ context.Context, schedules []*schedule.Record) error {
	rows := make([][]any, len(schedules))
	for i, r := range schedules {
		last := r.LastRun()
		rows[i] = []any{
			r.ID, sqlstore.Micros(r.Due), sqlstore.Micros(r.FireAt), last.Job, sqlstore.Micros(last.Due), last.Trigger, last.Number, last.State,
			sqlstore.Micros(last.EndedAt), r.Skipped, sqlstore.EncodeStanding(r.Standing), r.CalendarVersion,
		}
	}
	return s.txn.must(int64(len(schedules)), s.txn.sql.AdvanceSchedules, jsonOf(rows))
}
