package postgres

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Cancel implements schedule.Tx. A job that was missed because it moved meanwhile is
// looked for again.
func (t *scheduleTx) Cancel(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	cancelled := make(map[int64]time.Time, len(jobs))
	for open := jobs; len(open) > 0; {
		err := t.run(ctx,
			call{
				sql: t.sql.CancelRuns, args: []any{open, string(fairlead.ReasonReplaced), because, nil},
				each: func(row sqlstore.Scanner) error {
					var id, at int64
					var ran, freed bool
					err := row.Scan(&id, &at, &ran, &freed)
					t.stopped, t.freed = t.stopped || ran, t.freed || freed
					cancelled[id] = sqlstore.Time(at)
					return err
				},
			},
			t.leaveCall(ended, &t.gates, open...),
			idsCall(&open, t.sql.LiveRuns, open))
		if err != nil {
			return nil, err
		}
	}
	return cancelled, nil
}

// Admit implements schedule.Tx.
func (t *scheduleTx) Admit(_ context.Context, runs []schedule.Fire) error {
	schedules, jobs := make([]int64, len(runs)), make([]int64, len(runs))
	for i, fire := range runs {
		schedules[i], jobs[i] = fire.Schedule, fire.Job
	}
	t.queue(
		call{sql: t.sql.RunNow, args: []any{jobs}, each: func(row sqlstore.Scanner) error {
			var lane int32
			err := row.Scan(&lane)
			t.admitted = append(t.admitted, lane)
			return err
		}},
		call{sql: t.sql.AdmitFires, args: []any{schedules, jobs}})
	return nil
}

// newJobs are jobs that have their ids.
func (t *scheduleTx) newJobs(jobs []*fairlead.Job, flags int16) (*newJobs, error) {
	fresh := &newJobs{jobs: jobs, ids: make([]int64, len(jobs)), flags: flags}
	for i, job := range jobs {
		fresh.ids[i] = job.ID
	}
	return fresh, t.knowLanesOf(fresh)
}

// Enqueue implements schedule.Tx. Whether keys are free has to be asked.
func (t *scheduleTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) (map[int]error, error) {
	refused, err := sqlstore.RefusePending(jobs, func(tenant string) (int, int, error) { return t.bound(ctx, tenant) })
	if err != nil {
		return nil, err
	}
	fresh, err := t.newJobs(jobs, sqlstore.FlagFire)
	if err != nil {
		return nil, err
	}
	var free, keyed, due []int
	for i, job := range jobs {
		switch {
		case refused[i] != nil:
		case job.Key != "":
			keyed = append(keyed, i)
		default:
			free = append(free, i)
		}
	}
	if len(keyed) > 0 {
		part := fresh.part(keyed)
		part.refused = map[int]error{}
		if err := t.enqueueIn(ctx, t, part); err != nil {
			return nil, err
		}
		t.gates = append(t.gates, part.left...)
		for n, refusal := range part.refused {
			refused[keyed[n]] = refusal
		}
	}
	if len(free) > 0 {
		t.queue(fresh.part(free).plainCall(t.Store))
	}
	for i, job := range jobs {
		if refused[i] == nil && job.NotBefore.IsZero() {
			due = append(due, i)
		}
	}
	if len(due) > 0 {
		part := fresh.part(due)
		t.fresh, t.gates = append(t.fresh, part), append(t.gates, part.gates()...)
	}
	return refused, nil
}

// bound is how many jobs a tenant may have pending, zero if there is no bound, and how
// many it has.
func (t *scheduleTx) bound(ctx context.Context, tenant string) (bound, pending int, err error) {
	if bound = t.bounds[tenant]; bound == 0 {
		return 0, 0, nil
	}
	text, args := t.query.Tally(fairlead.Filter{
		Tenants: []string{tenant}, States: sqlstore.PendingStates(),
	}, sqlstore.Window{})
	if text == "" {
		return bound, 0, nil
	}
	err = t.run(ctx, call{sql: text, args: args, each: func(row sqlstore.Scanner) error {
		var state string
		var count int
		err := row.Scan(&state, &count)
		pending += count
		return err
	}})
	return bound, pending, err
}

// Record implements schedule.Tx.
func (t *scheduleTx) Record(_ context.Context, over []schedule.EndedJob) error {
	n := len(over)
	jobs, keys, reasons, errs, outcomes := make([]*fairlead.Job, n), make([]*string, n), make([]*string, n), make([]string, n), make([]int16, n)
	for i, e := range over {
		jobs[i], keys[i], reasons[i] = e.Job, textOrNull(e.Job.Key), textOrNull(string(e.Reason))
		outcomes[i], errs[i] = int16(sqlstore.OutcomeOf(e.State)), sqlstore.CleanText(e.Error)
	}
	fresh, err := t.newJobs(jobs, sqlstore.FlagFire)
	if err == nil {
		t.queue(fresh.guardedCall(t.sql.RecordRuns, fresh.laneGuards(t.Store), append(fresh.columns(), keys, outcomes, reasons, errs)...))
	}
	return err
}

// Alert implements schedule.Tx.
func (t *scheduleTx) Alert(ctx context.Context, jobs []*fairlead.Job) error {
	if err := t.Number(ctx, jobs); err != nil {
		return err
	}
	fresh, err := t.newJobs(jobs, 0)
	if err == nil {
		t.queue(fresh.plainCall(t.Store))
		t.fresh = append(t.fresh, fresh)
	}
	return err
}

// AddFires implements schedule.Tx.
func (t *scheduleTx) AddFires(_ context.Context, runs []schedule.Fire) error {
	n := len(runs)
	jobs, schedules, due, sources := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	numbers, triggers, skips, queued := make([]int32, n), make([]string, n), make([]string, n), make([]bool, n)
	for i, fire := range runs {
		jobs[i], schedules[i], due[i] = fire.Job, fire.Schedule, sqlstore.Micros(fire.Due)
		sources[i], numbers[i] = sqlstore.SourceOf(fire.Trigger, fire.Job), int32(fire.Number)
		triggers[i], skips[i], queued[i] = string(fire.Trigger), string(fire.Skip), fire.Queued
	}
	t.queue(call{sql: t.sql.AddFires, args: []any{jobs, schedules, due, sources, numbers, triggers, skips, queued}})
	return nil
}

// CloseFires implements schedule.Tx.
func (t *scheduleTx) CloseFires(_ context.Context, runs []schedule.Fire) error {
	schedules, jobs := make([]int64, len(runs)), make([]int64, len(runs))
	for i, fire := range runs {
		schedules[i], jobs[i] = fire.Schedule, fire.Job
	}
	t.queue(call{sql: t.sql.CloseFires, args: []any{schedules, jobs}})
	return nil
}

// Advance implements schedule.Tx. The versions of calendars are kept with what is
// declared of schedules, which is seldom written.
func (t *scheduleTx) Advance(_ context.Context, schedules []*schedule.Record) error {
	n := len(schedules)
	ids, due, fireAt := make([]int64, n), make([]int64, n), make([]int64, n)
	jobs, lastDue, endedAt, numbers := make([]int64, n), make([]int64, n), make([]int64, n), make([]int32, n)
	triggers, states, skipped, standing := make([]string, n), make([]string, n), make([]bool, n), make([]string, n)
	var changed, versions []int64
	for i, r := range schedules {
		last := r.LastRun()
		ids[i], due[i], fireAt[i] = r.ID, sqlstore.Micros(r.Due), sqlstore.Micros(r.FireAt)
		jobs[i], lastDue[i], endedAt[i], numbers[i] = last.Job, sqlstore.Micros(last.Due), sqlstore.Micros(last.EndedAt), int32(last.Number)
		triggers[i], states[i], skipped[i] = string(last.Trigger), string(last.State), r.Skipped
		standing[i] = sqlstore.EncodeStanding(r.Standing)
		if r.CalendarVersion != t.seen[r.ID] {
			changed, versions = append(changed, r.ID), append(versions, r.CalendarVersion)
		}
	}
	t.queue(call{sql: t.sql.AdvanceSchedules, args: []any{ids, due, fireAt, jobs, lastDue, endedAt, numbers, triggers, states, skipped, standing}})
	if len(changed) > 0 {
		t.queue(call{sql: t.sql.SeeCalendars, args: []any{changed, versions}})
	}
	return nil
}
