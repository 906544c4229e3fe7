package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// runTx is a transaction that acts on schedules and their runs: a sqlstore.RunTx.
type runTx struct {
	*jobTx
	db     *txnDB
	bounds map[string]int // of jobs that may be pending, by tenant
	brief  bool           // it does not wait for what other transactions hold
}

// ActOnSchedules implements sqlstore.Scheduling. A transaction that acts on many schedules
// does not wait for what another one holds, not even in the server, where a wait outlives a
// killed process: it lets go of all of them and looks again a few times.
func (d database) ActOnSchedules(ctx context.Context, verb string, turn *sqlstore.ScheduleTurn) error {
	ctx, cancel := d.withTimeout(ctx)
	defer cancel()
	begun := time.Now()
	err := d.actOnce(ctx, verb, turn)
	for _, pause := range heldPauses {
		var locked *sqlstore.LockedError
		if !turn.Many || !errors.As(err, &locked) || time.Since(begun) >= heldPatience || !paused(ctx, pause) {
			break
		}
		err = d.actOnce(ctx, verb, turn)
	}
	return err
}

// actOnce is one transaction. What it needs from outside is read before: a call that has one
// connection does not wait for another.
func (d database) actOnce(ctx context.Context, verb string, turn *sqlstore.ScheduleTurn) error {
	bounds, err := d.pending.Bounds(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return d.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		db := t.db()
		r := &runTx{jobTx: &jobTx{DB: db, t: t}, db: db, bounds: bounds}
		return r.waitAgain(ctx, func() error {
			err := turn.Do(ctx, r)
			if err == nil {
				err = db.Flush(ctx)
			}
			if r.brief && lockTimedOut(err) {
				err = turn.Locked(err)
			}
			return err
		})
	})
}

// WaitBriefly implements sqlstore.RunTx: the transaction fails rather than wait for what
// other transactions hold.
func (r *runTx) WaitBriefly(ctx context.Context) error {
	r.brief = true
	_, err := r.t.exec(ctx, r.t.sql.WaitNever)
	return err
}

// waitAgain runs f and then lets the connection wait for locks as before, as the next call may
// need that. If it cannot, the connection is broken or its call has timed out, and serverConn
// lets the pool give it up.
func (r *runTx) waitAgain(ctx context.Context, f func() error) error {
	err := f()
	if !r.brief {
		return err
	}
	if _, failed := r.t.exec(ctx, r.t.sql.WaitAsUsual); err == nil {
		err = failed
	}
	return err
}

// Must implements sqlstore.RunTx.
func (r *runTx) Must(rows int, statement string, args ...any) { r.db.Must(rows, statement, args...) }

// Reserve implements sqlstore.RunTx: the process has ids in store.
func (r *runTx) Reserve(int) {}

// Number implements sqlstore.RunTx.
func (r *runTx) Number(ctx context.Context, jobs []*fairlead.Job) error {
	ids, err := r.t.prepare(ctx, jobs)
	if err == nil {
		setIDs(jobs, ids)
	}
	return err
}

// EnqueueRuns implements sqlstore.RunTx. Jobs with keys are stored together if all of their
// keys are free, else one by one, so that one that is refused does not keep out others.
func (r *runTx) EnqueueRuns(ctx context.Context, jobs []*fairlead.Job, refused map[int]error) error {
	free, keyed := sqlstore.SplitKeyed(jobs, refused)
	if err := r.t.storeRuns(ctx, jobs, free); err != nil || len(keyed) == 0 {
		return err
	}
	err := r.t.storeOrUndo(ctx, jobs, keyed)
	if !errors.Is(err, fairlead.ErrConflict) {
		return err
	}
	for _, i := range keyed {
		err := r.t.storeOrUndo(ctx, jobs, []int{i})
		if err != nil && !errors.Is(err, fairlead.ErrConflict) {
			return err
		}
		if err != nil {
			refused[i] = err
		}
	}
	return nil
}

func (t *txn) storeOrUndo(ctx context.Context, jobs []*fairlead.Job, positions []int) error {
	return t.inSavepoint(ctx, "fairlead_runs", func() error { return t.storeRuns(ctx, jobs, positions) })
}

func (t *txn) storeRuns(ctx context.Context, jobs []*fairlead.Job, positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	chosen, ids := make([]*fairlead.Job, len(positions)), make([]int64, len(positions))
	for n, i := range positions {
		chosen[n], ids[n] = jobs[i], jobs[i].ID
	}
	t.fires = true
	defer func() { t.fires = false }()
	return t.idsTaken(t.enqueue(ctx, chosen, ids))
}

// Pending implements sqlstore.RunTx.
func (r *runTx) Pending(ctx context.Context, tenant string) (bound, pending int, err error) {
	if bound = r.bounds[tenant]; bound <= 0 {
		return 0, 0, nil
	}
	filter := fairlead.Filter{Tenants: []string{tenant}, States: sqlstore.PendingStates()}
	if err := r.t.knowLanes(ctx, filter); err != nil {
		return 0, 0, err
	}
	statement, args := r.t.query.Tally(filter, sqlstore.Window{})
	if statement == "" {
		return bound, 0, nil
	}
	err = r.t.each(ctx, func(row *sql.Rows) error {
		var state string
		var n int
		err := row.Scan(&state, &n)
		pending += n
		return err
	}, statement, args...)
	return bound, pending, err
}

// CancelRuns implements sqlstore.RunTx. The node of a running job comes too late to settle it.
func (r *runTx) CancelRuns(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	placed, err := r.t.locateAll(ctx, jobs)
	if err != nil {
		return nil, err
	}
	now, err := r.t.clock(ctx)
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
	return cancelled, r.t.write(ctx, &m)
}

// AdmitRuns implements sqlstore.RunTx.
func (r *runTx) AdmitRuns(ctx context.Context, runs []schedule.Fire) error {
	ids := make([]int64, len(runs))
	for i, run := range runs {
		ids[i] = run.Job
	}
	placed, err := r.t.locateAll(ctx, ids)
	if err != nil {
		return err
	}
	now, err := r.t.clock(ctx)
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
	if err := r.t.write(ctx, &m); err != nil {
		return err
	}
	made, err := r.t.execIDs(ctx, fill(r.t.sql.SetDue, "clock", decimal(now)), due)
	return checkHits(len(due), made, err)
}

// RecordRuns implements sqlstore.RunTx.
func (r *runTx) RecordRuns(ctx context.Context, ended []schedule.EndedJob) error {
	jobs := make([]*fairlead.Job, len(ended))
	for i, e := range ended {
		jobs[i] = e.Job
	}
	lanes, err := r.t.guardLanes(jobs)
	if err != nil {
		return err
	}
	now, err := r.t.clockAt(ctx, lanes)
	if err != nil {
		return err
	}
	fresh, m := newJobs{now: now, fires: true}, moves{now: now}
	for _, e := range ended {
		lane := lanes.of(e.Job)
		fresh.add(e.Job, e.Job.ID, lane)
		m.ended(&placed{id: e.Job.ID, lane: lane}, end{outcome: int64(sqlstore.OutcomeOf(e.State)), reason: e.Reason, err: e.Error})
	}
	if err := r.t.insert(ctx, r.t.sql.InsertJobs, &fresh.special); err != nil {
		return r.t.idsTaken(err)
	}
	return r.t.write(ctx, &m)
}
