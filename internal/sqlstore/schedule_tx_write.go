package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Cancel implements schedule.Tx.
func (t *scheduleTx) Cancel(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	return t.db.CancelRuns(ctx, jobs, because)
}

// Admit implements schedule.Tx.
func (t *scheduleTx) Admit(ctx context.Context, runs []schedule.Fire) error {
	return t.db.AdmitRuns(ctx, runs)
}

// Enqueue implements schedule.Tx.
func (t *scheduleTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) (map[int]error, error) {
	refused, err := RefusePending(jobs, func(tenant string) (int, int, error) { return t.db.Pending(ctx, tenant) })
	if err != nil {
		return nil, err
	}
	return refused, t.db.EnqueueRuns(ctx, jobs, refused)
}

// Record implements schedule.Tx.
func (t *scheduleTx) Record(ctx context.Context, ended []schedule.EndedJob) error {
	return t.db.RecordRuns(ctx, ended)
}

// Alert implements schedule.Tx.
func (t *scheduleTx) Alert(ctx context.Context, jobs []*fairlead.Job) error {
	return t.db.Enqueue(ctx, jobs)
}

// AddFires implements schedule.Tx.
func (t *scheduleTx) AddFires(_ context.Context, runs []schedule.Fire) error {
	var fires, open Rows
	for _, fire := range runs {
		due, trigger, number := Micros(fire.Due), string(fire.Trigger), int64(fire.Number)
		fires.Add(fire.Job, fire.Schedule, due, SourceOf(fire.Trigger, fire.Job), trigger, number, string(fire.Skip), fire.Queued)
		if fire.Skip == "" {
			open.Add(fire.Job, fire.Schedule, due, trigger, number)
		}
	}
	t.db.Must(len(runs), t.sql.AddFires, &fires)
	t.db.Must(len(open.Tuples()), t.sql.AddOpenFires, &open)
	return nil
}

// CloseFires implements schedule.Tx.
func (t *scheduleTx) CloseFires(_ context.Context, runs []schedule.Fire) error {
	var closed Rows
	var lost List[int64]
	for _, fire := range runs {
		closed.Add(fire.Job, fire.Schedule, string(fire.State), Micros(fire.EndedAt))
		if t.lost[fire.Job] {
			lost = append(lost, fire.Job)
		}
	}
	t.db.Must(len(runs), t.sql.CloseFires, &closed)
	if len(lost) > 0 {
		t.db.Must(len(lost), t.sql.DropLostFires, lost)
	}
	return nil
}

// Advance implements schedule.Tx.
func (t *scheduleTx) Advance(_ context.Context, schedules []*schedule.Record) error {
	var advanced, changed Rows
	for _, r := range schedules {
		last := r.LastRun()
		advanced.Add(r.ID, Micros(r.Due), Micros(r.FireAt), last.Job, Micros(last.Due), string(last.Trigger), int64(last.Number),
			string(last.State), Micros(last.EndedAt), r.Skipped, EncodePlanState(r.Standing), r.CalendarVersion)
		if r.CalendarVersion != t.seen[r.ID] {
			changed.Add(r.ID, r.CalendarVersion)
		}
	}
	t.db.Must(len(schedules), t.sql.AdvanceSchedules, &advanced)
	t.db.Must(len(changed.Tuples()), t.sql.SeeCalendars, &changed)
	return nil
}
