package mysql

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Cancel implements schedule.Tx. The node of a running job comes too late to settle it.
func (t *scheduleTx) Cancel(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	placed, err := t.locateAll(ctx, jobs)
	if err != nil {
		return nil, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return nil, err
	}
	m, cancelled := moves{now: now}, map[int64]time.Time{}
	for id, p := range placed {
		if p.state.Final() {
			continue
		}
		m.news.cancel = m.news.cancel || p.state == fairlead.Running
		m.finish(p, end{outcome: sqlstore.OutcomeCancelled, reason: fairlead.ReasonReplaced, err: because}, true)
		cancelled[id] = sqlstore.Time(now)
	}
	return cancelled, t.write(ctx, &m)
}

// Admit implements schedule.Tx.
func (t *scheduleTx) Admit(ctx context.Context, runs []schedule.Fire) error {
	ids := make([]int64, len(runs))
	for i, run := range runs {
		ids[i] = run.Job
	}
	placed, err := t.locateAll(ctx, ids)
	if err != nil {
		return err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	m := moves{now: now}
	var due []int64
	for _, id := range ids {
		p := placed[id]
		if p == nil || !p.queued || p.state != fairlead.Scheduled {
			continue
		}
		m.leave(p)
		m.place(p.dueAt(now), now)
		due = append(due, id)
	}
	if err := t.write(ctx, &m); err != nil {
		return err
	}
	made, err := t.execIDs(ctx, fill(t.sql.SetDue, "clock", decimal(now)), due)
	return checkHits(len(due), made, err)
}

// Enqueue implements schedule.Tx. Jobs with keys are stored together if all of their keys
// are free, else one by one, so that one that is refused does not keep out others.
func (t *scheduleTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) (map[int]error, error) {
	refused, err := sqlstore.RefusePending(jobs, func(tenant string) (int, int, error) { return t.bound(ctx, tenant) })
	if err != nil {
		return nil, err
	}
	var free, keyed []int
	for i, job := range jobs {
		switch {
		case refused[i] != nil:
		case job.Key != "":
			keyed = append(keyed, i)
		default:
			free = append(free, i)
		}
	}
	if err := t.storeRuns(ctx, jobs, free); err != nil || len(keyed) == 0 {
		return refused, err
	}
	err = t.storeOrUndo(ctx, jobs, keyed)
	if !errors.Is(err, fairlead.ErrConflict) {
		return refused, err
	}
	for _, i := range keyed {
		err := t.storeOrUndo(ctx, jobs, []int{i})
		if err != nil && !errors.Is(err, fairlead.ErrConflict) {
			return nil, err
		}
		if err != nil {
			refused[i] = err
		}
	}
	return refused, nil
}

func (t *scheduleTx) storeOrUndo(ctx context.Context, jobs []*fairlead.Job, positions []int) error {
	return t.inSavepoint(ctx, "fairlead_runs", func() error { return t.storeRuns(ctx, jobs, positions) })
}

func (t *scheduleTx) storeRuns(ctx context.Context, jobs []*fairlead.Job, positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	chosen := make([]*fairlead.Job, len(positions))
	for n, i := range positions {
		chosen[n] = jobs[i]
	}
	t.fires = true
	defer func() { t.fires = false }()
	return t.idsTaken(t.enqueue(ctx, chosen, jobIDs(chosen)))
}

func jobIDs(jobs []*fairlead.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// bound is how many jobs a tenant may have pending, zero if there is no bound, and how
// many it has.
func (t *scheduleTx) bound(ctx context.Context, tenant string) (bound, pending int, err error) {
	if bound = t.bounds[tenant]; bound <= 0 {
		return 0, 0, nil
	}
	filter := fairlead.Filter{Tenants: []string{tenant}, States: sqlstore.PendingStates()}
	if err := t.knowLanes(ctx, filter); err != nil {
		return 0, 0, err
	}
	statement, args := t.query.Tally(filter, sqlstore.Window{})
	if statement == "" {
		return bound, 0, nil
	}
	err = t.each(ctx, func(row *sql.Rows) error {
		var state string
		var n int
		err := row.Scan(&state, &n)
		pending += n
		return err
	}, statement, args...)
	return bound, pending, err
}

// Record implements schedule.Tx.
func (t *scheduleTx) Record(ctx context.Context, ended []schedule.EndedJob) error {
	jobs := make([]*fairlead.Job, len(ended))
	for i, e := range ended {
		jobs[i] = e.Job
	}
	lanes, err := t.guardLanes(jobs)
	if err != nil {
		return err
	}
	now, err := t.clockAt(ctx, lanes)
	if err != nil {
		return err
	}
	fresh, m := newJobs{now: now, fires: true}, moves{now: now}
	for _, e := range ended {
		lane := lanes.of(e.Job)
		fresh.add(e.Job, e.Job.ID, lane)
		m.ended(&placed{id: e.Job.ID, lane: lane}, end{outcome: int64(sqlstore.OutcomeOf(e.State)), reason: e.Reason, err: e.Error})
	}
	if err := t.insert(ctx, t.sql.InsertJobs, &fresh.special); err != nil {
		return t.idsTaken(err)
	}
	return t.write(ctx, &m)
}

// Alert implements schedule.Tx.
func (t *scheduleTx) Alert(ctx context.Context, jobs []*fairlead.Job) error {
	ids, err := t.prepare(ctx, jobs)
	if err != nil {
		return err
	}
	return t.idsTaken(t.enqueue(ctx, jobs, ids))
}

// AddFires implements schedule.Tx.
func (t *scheduleTx) AddFires(ctx context.Context, runs []schedule.Fire) error {
	var fires, open tuples
	for _, fire := range runs {
		due, trigger := sqlstore.Micros(fire.Due), string(fire.Trigger)
		fires.add().ints(fire.Job, fire.Schedule, due, sqlstore.SourceOf(fire.Trigger, fire.Job)).str(trigger).int(int64(fire.Number)).str(string(fire.Skip)).end()
		if fire.Skip == "" {
			open.add().ints(fire.Job, fire.Schedule, due).str(trigger).int(int64(fire.Number)).end()
		}
	}
	if err := t.insert(ctx, t.sql.AddFires, &fires); err != nil {
		return err
	}
	return t.insert(ctx, t.sql.AddOpenFires, &open)
}

// CloseFires implements schedule.Tx.
func (t *scheduleTx) CloseFires(ctx context.Context, runs []schedule.Fire) error {
	return t.closeFires(ctx, runs)
}

// Advance implements schedule.Tx.
func (t *scheduleTx) Advance(ctx context.Context, schedules []*schedule.Record) error {
	advanced := tuples{json: true}
	for _, r := range schedules {
		last, skipped := r.LastRun(), int64(0)
		if r.Skipped {
			skipped = 1
		}
		advanced.add().ints(r.ID, sqlstore.Micros(r.Due), sqlstore.Micros(r.FireAt), last.Job, sqlstore.Micros(last.Due)).
			blob([]byte(last.Trigger)).int(int64(last.Number)).blob([]byte(last.State)).ints(sqlstore.Micros(last.EndedAt), skipped).
			blob([]byte(sqlstore.EncodeStanding(r.Standing))).int(r.CalendarVersion).end()
	}
	hit, err := t.execRows(ctx, t.sql.AdvanceSchedules, &advanced)
	return checkHits(len(schedules), hit, err)
}
