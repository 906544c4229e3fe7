package mysql

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Enqueue stores either all jobs or none. It returns ErrConflict if a key is taken, and
// ErrLimit if a tenant would exceed its MaxPending.
func (s *Store) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.pending.Check(ctx, jobs); err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	reserved, err := s.reserve(ctx, jobs)
	if err != nil {
		return err
	}
	if canBundle(jobs) {
		if err := s.enqueueBundle(ctx, jobs, reserved); err != nil {
			return err
		}
		setIDs(jobs, reserved.ids)
		return nil
	}
	if slices.ContainsFunc(jobs, func(job *fairlead.Job) bool { return job.Key != "" }) {
		ctx = sqlstore.MayWait(ctx)
	}
	var ids []int64
	err = s.inTx(ctx, "enqueue", func(ctx context.Context, t *txn) error {
		if err := reserved.renew(ctx); err != nil {
			return err
		}
		ids = slices.Clone(reserved.ids)
		return t.idsTaken(t.enqueue(ctx, jobs, ids))
	})
	if err != nil {
		return err
	}
	setIDs(jobs, ids)
	return nil
}

// reservation holds what new jobs need from outside of the transaction that stores
// them. It is valid at the server that gave it.
type reservation struct {
	store  *Store
	jobs   []*fairlead.Job
	number int64 // of the server
	ids    []int64
}

func (s *Store) reserve(ctx context.Context, jobs []*fairlead.Job) (*reservation, error) {
	r := &reservation{store: s, jobs: jobs, number: s.number.Load()}
	var err error
	r.ids, err = s.prepare(ctx, jobs)
	return r, err
}

// renew takes other ids if the server is another one by now.
func (r *reservation) renew(ctx context.Context) error {
	number := r.store.number.Load()
	if r.number == number {
		return nil
	}
	ids, err := r.store.prepare(ctx, r.jobs)
	if err == nil {
		r.ids, r.number = ids, number
	}
	return err
}

func setIDs(jobs []*fairlead.Job, ids []int64) {
	for i, job := range jobs {
		job.ID = ids[i]
	}
}

// enqueue stores jobs under the given ids. A job that is not stored because of its key
// gets the id of the key's holder.
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

// store writes the jobs at the given positions.
func (t *txn) store(ctx context.Context, jobs []*fairlead.Job, ids []int64, positions []int) error {
	if len(positions) == 0 {
		return nil
	}
	chosen := make([]*fairlead.Job, len(positions))
	for n, i := range positions {
		chosen[n] = jobs[i]
	}
	lanes, err := t.guardLanes(chosen)
	if err != nil {
		return err
	}
	now, err := t.clockAt(ctx, lanes)
	if err != nil {
		return err
	}
	fresh := newJobs{now: now, fires: t.fires}
	var later, parked tuples
	var gates gateSet
	var due []int64
	for _, i := range positions {
		job := jobs[i]
		lane := lanes.of(job)
		fresh.add(job, ids[i], lane)
		gate := sqlstore.GateOf(job)
		switch notBefore := sqlstore.Micros(job.NotBefore); {
		case notBefore > now:
			later.add().ints(ids[i], int64(lane), notBefore, 0, 0, 0).end()
			t.wakes.later = true
		case gate != 0:
			parked.add().ints(gate, int64(-job.Priority), startBy(job, now), ids[i], int64(lane), 0, 0, 0).end()
			gates.add(gate)
		default:
			due = append(due, ids[i])
			t.wakes.addWork(lane)
		}
	}
	for _, to := range []struct {
		table string
		rows  *tuples
	}{{t.sql.InsertPlainJobs, &fresh.plain}, {t.sql.InsertJobs, &fresh.special}, {t.sql.ToLater, &later}, {t.sql.ToParked, &parked}} {
		if err := t.insert(ctx, to.table, to.rows); err != nil {
			return err
		}
	}
	if err := t.post(ctx, gates); err != nil {
		return err
	}
	placed, err := t.execIDs(ctx, t.sql.PlaceDue, due)
	return checkHits(len(due), placed, err)
}

// newJobs holds what is stored of jobs besides their places.
type newJobs struct {
	now            int64 // 0 in a bundle
	fires          bool  // they are runs of schedules
	plain, special tuples
}

func (n *newJobs) add(job *fairlead.Job, id int64, lane int32) {
	place, start := []int64{id, int64(lane), int64(-job.Priority)}, startBy(job, n.now)
	notBefore, flags, policy := sqlstore.Micros(job.NotBefore), sqlstore.Flags(job), sqlstore.Policy(job)
	if n.fires {
		flags |= sqlstore.FlagFire
	}
	if notBefore == 0 && job.Key == "" && flags == 0 && policy == nil && job.Trace == "" {
		n.plain.add().ints(place...).instant(start).instant(n.now).blob(job.Args).end()
		return
	}
	n.special.add().ints(place...).instant(start).int(notBefore).instant(n.now).blob([]byte(job.Key)).int(int64(flags)).
		blob(policy).blob([]byte(job.Trace)).blob(job.Args).orNull(sqlstore.GateOf(job)).end()
}

// startBy returns the time that orders a new job: its due time if it has no StartBy.
func startBy(job *fairlead.Job, now int64) int64 {
	return cmp.Or(sqlstore.Micros(job.StartBy), sqlstore.Micros(job.NotBefore), now)
}
