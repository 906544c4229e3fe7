package lists

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// jobTables contains the tables of jobs.
type jobTables struct {
	job, done, attempt, memo, later, ready, parked, running, waiting *table
}

func newJobTables(into bulk) *jobTables {
	const counts = " attempt failures crashes"
	return &jobTables{
		job:     newTable(into, "job", "id lane turn start_by not_before created_at job_key flags policy args gate"),
		done:    newTable(into, "done", "id lane outcome reason fence node started_at finished_at output error"+counts),
		attempt: newTable(into, "attempt", "id run fence node started_at finished_at reason error"),
		memo:    newTable(into, "memo", "id memo"),
		later:   newTable(into, "later", "id lane not_before"+counts),
		ready:   newTable(into, "ready", "lane solo turn start_by id"+counts),
		parked:  newTable(into, "parked", "gate turn start_by id lane"+counts),
		running: newTable(into, "running", "id fence node lane started_at"+counts),
		waiting: newTable(into, "waiting", "id fence node lane started_at deadline"+counts),
	}
}

func (t *jobTables) flush(ctx context.Context) error {
	for _, table := range []*table{t.job, t.done, t.attempt, t.memo, t.later, t.ready, t.parked, t.running, t.waiting} {
		if err := table.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// storeJobs stores all jobs of a mix and their lanes.
func (m *mix) storeJobs(ctx context.Context, into bulk, stored func()) error {
	lanes := newTable(into, "lane", "id queue tenant kind")
	for i, lane := range m.lanes {
		if err := lanes.add(ctx, i+1, lane.queue, lane.tenant, lane.kind); err != nil {
			return err
		}
	}
	if err := lanes.flush(ctx); err != nil {
		return err
	}
	tables := newJobTables(into)
	for i := range m.jobs {
		job := m.job(i)
		if err := tables.add(ctx, job); err != nil {
			return err
		}
		m.first[job.state] = job.id
		stored()
	}
	if err := tables.flush(ctx); err != nil {
		return err
	}
	return m.storeMarks(ctx, into)
}

// storeMarks stores the ID marks that nodes would have created while the jobs were
// enqueued.
func (m *mix) storeMarks(ctx context.Context, into bulk) error {
	const spacing = 5 * time.Minute
	marks := newTable(into, "id_mark", "id marked_at latest")
	next := m.began
	for i := range m.jobs {
		at := m.setAside(i)
		if at.Before(next) {
			continue
		}
		if err := marks.add(ctx, i+1, sqlstore.Micros(at), sqlstore.Micros(at)); err != nil {
			return err
		}
		next = at.Add(spacing)
	}
	return marks.flush(ctx)
}

// add stores a job with its state.
func (t *jobTables) add(ctx context.Context, j made) error {
	lane, created := j.lane+1, sqlstore.Micros(j.created)
	var key, policy, gate any
	if j.key != "" {
		key = j.key
	}
	if j.batch != 0 {
		policy = fmt.Sprintf(`{"batch":%d}`, j.batch)
	}
	if j.state == fairlead.Parked {
		gate = j.id % 50
	}
	if err := t.job.add(ctx, j.id, lane, 0, created, 0, created, key, 0, policy, fmt.Sprintf(`{"n":%d}`, j.id), gate); err != nil {
		return err
	}
	if j.id%20 == 0 {
		if err := t.memo.add(ctx, j.id, `{"seen":true}`); err != nil {
			return err
		}
	}
	switch j.state {
	case fairlead.Scheduled:
		return t.later.add(ctx, j.id, lane, sqlstore.Micros(j.created.Add(365*24*time.Hour)), 0, 0, 0)
	case fairlead.Ready:
		return t.ready.add(ctx, lane, 0, 0, created, j.id, 0, 0, 0)
	case fairlead.Parked:
		return t.parked.add(ctx, gate, 0, created, j.id, lane, 0, 0, 0)
	case fairlead.Running:
		return t.running.add(ctx, j.id, j.id, 1, lane, created, 1, 0, 0)
	case fairlead.Waiting:
		return t.waiting.add(ctx, j.id, j.id, 1, lane, created, sqlstore.Micros(j.created.Add(365*24*time.Hour)), 1, 0, 0)
	}
	return t.end(ctx, j, created)
}

// end stores a job that has ended.
func (t *jobTables) end(ctx context.Context, j made, started int64) error {
	var reason, text, output any
	failures := 0
	finished := sqlstore.Micros(j.finished)
	switch j.state {
	case fairlead.Succeeded:
		output = `{"ok":true}`
	case fairlead.Failed:
		failures = 1
		reason, text = string(fairlead.ReasonError), fmt.Sprintf("target %d answered 503 Service Unavailable", j.id%97)
		if err := t.attempt.add(ctx, j.id, 1, j.id, 1, started, finished, reason, text); err != nil {
			return err
		}
	}
	return t.done.add(ctx, j.id, j.lane+1, sqlstore.OutcomeOf(j.state), reason, j.id, 1, started, finished, output, text, 1, failures, 0)
}
