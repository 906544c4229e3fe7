package mysql

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Enqueue stores all jobs or none.
func (s *Store) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := s.bound(ctx)
	defer cancel()
	reserved, err := s.prepare(ctx, jobs)
	if err != nil {
		return err
	}
	var ids []int64
	err = s.atomically(ctx, "enqueue", func(ctx context.Context, t *txn) error {
		ids = slices.Clone(reserved)
		return t.enqueue(ctx, jobs, ids)
	})
	if err != nil {
		return err
	}
	setIDs(jobs, ids)
	return nil
}

func setIDs(jobs []*fairlead.Job, ids []int64) {
	for i, job := range jobs {
		job.ID = ids[i]
	}
}

// enqueue stores jobs under the given ids. A job that stays out because of its
// key gets the id of the one that has it.
func (t *txn) enqueue(ctx context.Context, jobs []*fairlead.Job, ids []int64) error {
	free := make([]int, 0, len(jobs))
	var keyed []int
	for i, job := range jobs {
		if job.Key == "" {
			free = append(free, i)
		} else {
			keyed = append(keyed, i)
		}
	}
	if err := t.enqueueKeyed(ctx, jobs, ids, keyed); err != nil {
		return err
	}
	return t.store(ctx, jobs, ids, free)
}

// store writes those of the jobs that are named by their positions.
func (t *txn) store(ctx context.Context, jobs []*fairlead.Job, ids []int64, positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	var stored rows
	m := moves{now: now}
	for _, i := range positions {
		job := jobs[i]
		lane, _ := t.lanes.ID(sqlstore.KeyOf(job))
		turn, notBefore := int64(-job.Priority), sqlstore.Micros(job.NotBefore)
		due := notBefore
		if due == 0 {
			due = now
		}
		startBy := sqlstore.Micros(job.StartBy)
		if startBy == 0 {
			startBy = due
		}
		stored.add().ints(ids[i], int64(lane), turn, startBy, notBefore, now).
			blob([]byte(job.Key)).int(int64(sqlstore.Flags(job))).blob(sqlstore.Policy(job)).
			blob([]byte(job.Trace)).blob(job.Args).end()
		m.place(&placed{id: ids[i], lane: lane, turn: turn, startBy: startBy}, due)
	}
	if err := t.insert(ctx, t.sql.InsertJobs, &stored); err != nil {
		return err
	}
	return t.write(ctx, &m)
}
