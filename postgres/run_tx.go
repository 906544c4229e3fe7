package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// runTx is a transaction that acts on schedules and their runs: a sqlstore.RunTx.
type runTx struct {
	*jobTx
	bounds map[string]int // tenant → how many jobs it may have pending
	spare  []int64        // ids for jobs
}

// ActOnSchedules implements sqlstore.Scheduling. The waits are bounded from the start.
func (d database) ActOnSchedules(ctx context.Context, verb string, turn *sqlstore.ScheduleTurn) error {
	ctx, cancel := d.withTimeout(ctx)
	defer cancel()
	// What would take a second connection is read before the transaction.
	bounds, err := d.pending.Bounds(ctx)
	if err == nil && len(bounds) > 0 {
		err = d.refreshLanes(ctx, 0)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	dwell := d.sql.Dwell
	if turn.Brief {
		dwell = d.sql.DwellBriefly
	}
	err = d.inJobTx(ctx, dwell, func(ctx context.Context, tx *jobTx) error {
		tx.begun = time.Now()
		t := &runTx{jobTx: tx, bounds: bounds}
		err := tx.do(ctx, func(ctx context.Context, _ sqlstore.DB) error { return turn.Do(ctx, t) })
		if turn.Brief && lockTimedOut(err) {
			err = turn.Locked(err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// WaitBriefly implements sqlstore.RunTx: the waits are bounded already.
func (t *runTx) WaitBriefly(context.Context) error { return nil }

// Must implements sqlstore.RunTx. The statement may travel with the commit.
func (t *runTx) Must(_ int, statement string, args ...any) { t.Queue(statement, args...) }

// Reserve implements sqlstore.RunTx. It takes ids under the locks of the schedules, and not
// from those that this process has in store: of two runs of a schedule the later one has the
// larger id, whichever node made them.
func (t *runTx) Reserve(n int) {
	t.QueueEach(func(row sqlstore.Scanner) error {
		var first int64
		err := row.Scan(&first)
		for id := first; id < first+idBlock; id++ {
			t.spare = append(t.spare, id)
		}
		return err
	}, t.store.sql.TakeIDs, (n+idBlock-1)/idBlock)
}

// Number implements sqlstore.RunTx.
func (t *runTx) Number(ctx context.Context, jobs []*fairlead.Job) error {
	if missing := len(jobs) - len(t.spare); missing > 0 {
		t.Reserve(missing)
		if err := t.Flush(ctx); err != nil {
			return err
		}
	}
	slices.Sort(t.spare)
	for i, job := range jobs {
		job.ID = t.spare[i]
	}
	t.spare = t.spare[len(jobs):]
	return nil
}

// numbered are jobs that have their ids.
func (t *runTx) numbered(jobs []*fairlead.Job, flags int16) (*newJobs, error) {
	fresh := &newJobs{jobs: jobs, ids: make([]int64, len(jobs)), flags: flags}
	for i, job := range jobs {
		fresh.ids[i] = job.ID
	}
	return fresh, t.store.knowLanesOf(fresh)
}

// Enqueue implements sqlstore.JobTx.
func (t *runTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if err := t.Number(ctx, jobs); err != nil {
		return err
	}
	fresh, err := t.numbered(jobs, 0)
	if err == nil {
		t.queue = append(t.queue, fresh.plainCall(t.store))
		t.fresh = append(t.fresh, fresh)
	}
	return err
}

// EnqueueRuns implements sqlstore.RunTx. Whether keys are free has to be asked.
func (t *runTx) EnqueueRuns(ctx context.Context, jobs []*fairlead.Job, refused map[int]error) error {
	fresh, err := t.numbered(jobs, sqlstore.FlagFire)
	if err != nil {
		return err
	}
	free, keyed := sqlstore.SplitKeyed(jobs, refused)
	if len(keyed) > 0 {
		part := fresh.part(keyed)
		part.refused = map[int]error{}
		if err := t.store.enqueueIn(ctx, t, part); err != nil {
			return err
		}
		t.done.gates = append(t.done.gates, part.left...)
		for n, refusal := range part.refused {
			refused[keyed[n]] = refusal
		}
	}
	if len(free) > 0 {
		t.queue = append(t.queue, fresh.part(free).plainCall(t.store))
	}
	var due []int
	for i, job := range jobs {
		if refused[i] == nil && job.NotBefore.IsZero() {
			due = append(due, i)
		}
	}
	if len(due) > 0 {
		t.fresh = append(t.fresh, fresh.part(due))
	}
	return nil
}

// Pending implements sqlstore.RunTx.
func (t *runTx) Pending(ctx context.Context, tenant string) (bound, pending int, err error) {
	if bound = t.bounds[tenant]; bound == 0 {
		return 0, 0, nil
	}
	text, args := t.store.query.Tally(fairlead.Filter{
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

// CancelRuns implements sqlstore.RunTx. A job that was missed because it moved meanwhile is
// looked for again.
func (t *runTx) CancelRuns(ctx context.Context, jobs []int64, because string) (map[int64]time.Time, error) {
	cancelled := make(map[int64]time.Time, len(jobs))
	for open := jobs; len(open) > 0; {
		err := t.run(ctx,
			call{
				sql: t.store.sql.CancelRuns, args: []any{open, string(fairlead.ReasonReplaced), because, nil},
				each: func(row sqlstore.Scanner) error {
					var id, at int64
					var ran, freed bool
					err := row.Scan(&id, &at, &ran, &freed)
					t.done.cancel, t.done.freed = t.done.cancel || ran, t.done.freed || freed
					cancelled[id] = sqlstore.Time(at)
					return err
				},
			},
			t.store.leaveCall(ended, &t.done.gates, open...),
			idsCall(&open, t.store.sql.LiveRuns, open))
		if err != nil {
			return nil, err
		}
	}
	return cancelled, nil
}

// AdmitRuns implements sqlstore.RunTx.
func (t *runTx) AdmitRuns(_ context.Context, runs []schedule.Fire) error {
	schedules, jobs := make([]int64, len(runs)), make([]int64, len(runs))
	for i, fire := range runs {
		schedules[i], jobs[i] = fire.Schedule, fire.Job
	}
	t.QueueEach(func(row sqlstore.Scanner) error {
		var lane int32
		err := row.Scan(&lane)
		t.done.lanes, t.done.parked = append(t.done.lanes, lane), true
		return err
	}, t.store.sql.RunNow, jobs)
	t.Queue(t.store.sql.AdmitFires, schedules, jobs)
	return nil
}

// RecordRuns implements sqlstore.RunTx.
func (t *runTx) RecordRuns(_ context.Context, over []schedule.EndedJob) error {
	n := len(over)
	jobs, keys, reasons, errs, outcomes := make([]*fairlead.Job, n), make([]*string, n), make([]*string, n), make([]string, n), make([]int16, n)
	for i, e := range over {
		jobs[i], keys[i], reasons[i] = e.Job, textOrNull(e.Job.Key), textOrNull(string(e.Reason))
		outcomes[i], errs[i] = int16(sqlstore.OutcomeOf(e.State)), sqlstore.CleanText(e.Error)
	}
	fresh, err := t.numbered(jobs, sqlstore.FlagFire)
	if err == nil {
		t.queue = append(t.queue, fresh.guardedCall(t.store.sql.RecordRuns, fresh.laneGuards(t.store), append(fresh.columns(), keys, outcomes, reasons, errs)...))
	}
	return err
}
