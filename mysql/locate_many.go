package mysql

import (
	"context"
	"database/sql"
	"maps"
	"slices"
)

// locateAll finds jobs wherever they are, and locks them there. Those that do not
// exist are left out. Jobs that are scheduled or running, as most runs of
// schedules are, cost few statements together; each of the others costs its own.
// A caller's transaction has to locate one at a time.
func (t *txn) locateAll(ctx context.Context, ids []int64) (map[int64]*placed, error) {
	jobs := make(map[int64]*placed, len(ids))
	if len(ids) == 0 {
		return jobs, nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		p := &placed{}
		err := row.Scan(&p.id, &p.lane, &p.turn, &p.startBy, &p.notBefore, &p.createdAt, &p.key, &p.flags, &p.gate)
		jobs[p.id] = p
		return err
	}, t.sql.LockAllJobs, ids)
	if err != nil {
		return nil, err
	}
	later, running, err := t.commonPlaces(ctx, slices.Sorted(maps.Keys(jobs)))
	if err != nil {
		return nil, err
	}
	if err := t.lockAllLater(ctx, jobs, later); err != nil {
		return nil, err
	}
	leased, err := t.running(ctx, t.sql.LockRunning, running)
	if err != nil {
		return nil, err
	}
	for id, p := range leased {
		jobs[id].lease(p)
	}
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		if jobs[id].state == "" {
			if err := t.find(ctx, jobs[id]); err != nil {
				return nil, err
			}
		}
	}
	return jobs, nil
}

// commonPlaces tells which of the jobs are scheduled and which are running, as a
// hint.
func (t *txn) commonPlaces(ctx context.Context, ids []int64) (later, running []int64, err error) {
	err = t.eachOf(ctx, func(row *sql.Rows) error {
		var id int64
		var place string
		err := row.Scan(&id, &place)
		switch place {
		case "later":
			later = append(later, id)
		case "running":
			running = append(running, id)
		}
		return err
	}, t.sql.PlacesOfJobs, ids)
	return later, running, err
}

// lockAllLater locks those of the jobs that are still scheduled.
func (t *txn) lockAllLater(ctx context.Context, jobs map[int64]*placed, ids []int64) error {
	scheduled := make(map[int64]*placed, len(ids))
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		var id, due, attempt, failures, crashes int64
		if err := row.Scan(&id, &due, &attempt, &failures, &crashes); err != nil {
			return err
		}
		p := jobs[id]
		p.schedule(due)
		p.attempt, p.failures, p.crashes = attempt, failures, crashes
		scheduled[id] = p
		return nil
	}, t.sql.LockAllLater, ids)
	if err != nil {
		return err
	}
	return t.readPlaces(ctx, scheduled)
}
