package mysql

import (
	"context"
	"database/sql"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// recall removes jobs of a range that have never been started, and tells which
// these were. What others have locked is left.
func (t *txn) recall(ctx context.Context, first, last int64) ([]int64, error) {
	jobs := map[int64]*placed{}
	err := t.each(ctx, func(row *sql.Rows) error {
		p := &placed{}
		err := row.Scan(&p.id, &p.lane, &p.turn, &p.startBy, &p.gate)
		jobs[p.id] = p
		return err
	}, t.sql.LockJobRange, first, last)
	if err != nil {
		return nil, err
	}
	for _, lock := range []func(context.Context, map[int64]*placed) error{t.lockScheduled, t.lockAllParked, t.lockRegular, t.lockSuspects} {
		if err := lock(ctx, jobs); err != nil {
			return nil, err
		}
	}
	var begun []int64
	if err := t.each(ctx, collect(&begun), t.sql.BegunBetween, first, last); err != nil {
		return nil, err
	}
	for _, id := range begun {
		delete(jobs, id)
	}
	var ids []int64
	for id, p := range jobs {
		if p.state != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if err := t.removeRecalled(ctx, jobs, ids); err != nil {
		return nil, err
	}
	return ids, nil
}

// unplaced are the jobs whose places were not found yet, in order.
func unplaced(jobs map[int64]*placed) []*placed {
	var left []*placed
	for _, p := range jobs {
		if p.state == "" {
			left = append(left, p)
		}
	}
	slices.SortFunc(left, func(a, b *placed) int { return int(a.id - b.id) })
	return left
}

// found notes where jobs are.
func found(jobs map[int64]*placed, state fairlead.State, solo int64) func(*sql.Rows) error {
	return func(row *sql.Rows) error {
		var id, other int64
		err := row.Scan(&id, &other)
		if p := jobs[id]; err == nil && p != nil {
			p.state, p.solo = state, solo
		}
		return err
	}
}

func (t *txn) lockScheduled(ctx context.Context, jobs map[int64]*placed) error {
	var ids []int64
	for _, p := range unplaced(jobs) {
		ids = append(ids, p.id)
	}
	return t.eachOf(ctx, found(jobs, fairlead.Scheduled, 0), t.sql.RecallLater, ids)
}

func (t *txn) lockAllParked(ctx context.Context, jobs map[int64]*placed) error {
	gated := slices.DeleteFunc(unplaced(jobs), func(p *placed) bool { return p.gate == 0 })
	for chunk := range slices.Chunk(gated, chunkTuples) {
		var keys tuples
		for _, p := range chunk {
			keys.add().ints(p.gate, p.turn, p.startBy, p.id).end()
		}
		if err := t.eachRows(ctx, found(jobs, fairlead.Parked, 0), t.sql.RecallParked, &keys); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) lockRegular(ctx context.Context, jobs map[int64]*placed) error {
	return t.lockAllReady(ctx, jobs, 0)
}

func (t *txn) lockSuspects(ctx context.Context, jobs map[int64]*placed) error {
	return t.lockAllReady(ctx, jobs, 1)
}

func (t *txn) lockAllReady(ctx context.Context, jobs map[int64]*placed, solo int64) error {
	for chunk := range slices.Chunk(unplaced(jobs), chunkTuples) {
		var keys tuples
		for _, p := range chunk {
			keys.add().ints(int64(p.lane), solo, p.turn, p.startBy, p.id).end()
		}
		if err := t.eachRows(ctx, found(jobs, fairlead.Ready, solo), t.sql.RecallReady, &keys); err != nil {
			return err
		}
	}
	return nil
}

// removeRecalled removes jobs whose places are locked, with all that is known of them.
func (t *txn) removeRecalled(ctx context.Context, jobs map[int64]*placed, ids []int64) error {
	var scheduled []int64
	var parked []*placed
	var places []place
	ready, waiting := [2]tuples{{json: true}, {json: true}}, 0
	for _, id := range ids {
		p := jobs[id]
		switch p.state {
		case fairlead.Scheduled:
			scheduled = append(scheduled, id)
		case fairlead.Parked:
			parked = append(parked, p)
		default:
			ready[p.solo].add().ints(int64(p.lane), p.turn, p.startBy, p.id).end()
			waiting++
		}
		if p.gate != 0 {
			places = append(places, place{p.gate, id})
		}
	}
	left, err := t.execIDs(ctx, t.sql.LeaveLater, scheduled)
	if err := checkHits(len(scheduled), left, err); err != nil {
		return err
	}
	left = 0
	for solo := range ready {
		hit, err := t.execRows(ctx, fill(t.sql.LeaveReady, "solo", decimal(solo)), &ready[solo])
		if err != nil {
			return err
		}
		left += hit
	}
	if err := checkHits(waiting, left, nil); err != nil {
		return err
	}
	if err := t.leaveParked(ctx, parked); err != nil {
		return err
	}
	var free gateSet
	if err := t.vacate(ctx, places, &free); err != nil {
		return err
	}
	if err := t.post(ctx, free); err != nil {
		return err
	}
	return t.forget(ctx, ids)
}
