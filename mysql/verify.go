package mysql

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// rehold makes every running and waiting job count against the current limits, and
// counts the jobs under each limit again. It returns the counts that were wrong. A job that another
// transaction holds, maybe that of a caller, keeps the limits that it has: all claims wait
// meanwhile.
//
// The result is exact: the lock of the limits keeps claims out, and the statement that counts
// sees of each job that it holds slots or that it has given the same slots back.
func (r *limitChange) rehold(ctx context.Context) ([]driver.Drift, error) {
	config := sqlstore.NewLimitConfig(r.version, nil, r.parents, sqlstore.PlainLimits(r.rows))
	for _, place := range []struct{ lock, hold string }{
		{r.sql.LockAllRunning, r.sql.HoldRunning},
		{r.sql.LockAllWaiting, r.sql.HoldWaiting},
	} {
		holders, err := r.lockHolders(ctx, place.lock)
		if err != nil {
			return nil, err
		}
		if err := r.move(ctx, config, holders, place.hold); err != nil {
			return nil, err
		}
	}
	return r.recount(ctx, config)
}

// holder is a lane, and the set of limits that jobs of it count against.
type holder struct{ lane, set int32 }

// lockHolders locks all jobs of a place.
func (r *limitChange) lockHolders(ctx context.Context, statement string) (map[holder][]int64, error) {
	holders := map[holder][]int64{}
	err := r.each(ctx, func(row *sql.Rows) error {
		var id int64
		var h holder
		err := row.Scan(&id, &h.lane, &h.set)
		holders[h] = append(holders[h], id)
		return err
	}, statement)
	return holders, err
}

// move gives the jobs of a place the sets of the current limits.
func (r *limitChange) move(ctx context.Context, config *sqlstore.LimitConfig, holders map[holder][]int64, hold string) error {
	groups := slices.Collect(maps.Keys(holders))
	sets, err := r.currentSets(ctx, config, groups)
	if err != nil {
		return err
	}
	for i, h := range groups {
		if sets[i] == h.set {
			continue
		}
		moved, err := r.execIDs(ctx, fill(hold, "set", decimal(sets[i])), holders[h])
		if err := checkHits(len(holders[h]), moved, err); err != nil {
			return err
		}
	}
	return nil
}

// currentSets returns the sets that jobs must count against by the current limits.
func (r *limitChange) currentSets(ctx context.Context, config *sqlstore.LimitConfig, groups []holder) ([]int32, error) {
	lists := make([][]int32, len(groups))
	for i, h := range groups {
		lane, err := r.laneKey(ctx, h.lane)
		if err != nil {
			return nil, err
		}
		lists[i] = config.Of(lane)
	}
	return r.setsOf(ctx, lists)
}

// census is what jobs hold and have given back, as of one moment.
type census struct {
	jobs   map[holder]int
	freed  map[int32]int // by limit
	deltas []int64       // ids of the rows that say so
}

// census counts the jobs that hold slots.
func (r *limitChange) census(ctx context.Context) (census, error) {
	c := census{jobs: map[holder]int{}, freed: map[int32]int{}}
	err := r.each(ctx, func(row *sql.Rows) error {
		var delta int64
		var h holder
		var n int
		if err := row.Scan(&delta, &h.lane, &h.set, &n); err != nil {
			return err
		}
		if delta == 0 {
			c.jobs[h] += n
			return nil
		}
		limit := h.lane // the column of the lane has the limit here
		c.freed[limit] += n
		c.deltas = append(c.deltas, delta)
		return nil
	}, r.sql.Holders)
	return c, err
}

// recount sets the use of all limits to what jobs hold, and notes whether some hold another set
// than the limits say.
func (r *limitChange) recount(ctx context.Context, config *sqlstore.LimitConfig) ([]driver.Drift, error) {
	seen, err := r.census(ctx)
	if err != nil {
		return nil, err
	}
	groups := slices.Collect(maps.Keys(seen.jobs))
	sets, err := r.currentSets(ctx, config, groups)
	if err != nil {
		return nil, err
	}
	found := map[int32]int{}
	for i, h := range groups {
		r.left = r.left || sets[i] != h.set
		if h.set == noSet {
			continue
		}
		members, err := r.membersOf(ctx, h.set)
		if err != nil {
			return nil, err
		}
		for _, limit := range members {
			found[limit] += seen.jobs[h]
		}
	}
	return r.keepCounts(ctx, found, &seen)
}

// keepCounts writes the use of limits that differ from what was found, without the slots given
// back that the census has seen. Others may have come since.
func (r *limitChange) keepCounts(ctx context.Context, found map[int32]int, seen *census) ([]driver.Drift, error) {
	limits, err := readLimitRows(ctx, r.tx, r.sql.LimitRows)
	if err != nil {
		return nil, err
	}
	var drift []driver.Drift
	kept := tuples{json: true}
	changed := 0
	for _, q := range limits {
		used, n := q.running+q.freed, found[q.ID]
		if used != n {
			kept.add().ints(int64(q.ID), int64(n)).float(q.tokens).int(q.refilledAt).end()
			changed++
		}
		if counted := used - seen.freed[q.ID]; counted != n {
			drift = append(drift, driver.Drift{Scope: q.Limit.Scope, Name: q.Limit.Name, Counted: counted, Found: n})
		}
	}
	forgotten, err := r.execIDs(ctx, r.sql.ForgetDeltas, seen.deltas)
	if err := checkHits(len(seen.deltas), forgotten, err); err != nil {
		return nil, err
	}
	hit, err := r.execRows(ctx, r.sql.KeepLimits, &kept)
	return drift, checkHits(changed, hit, err)
}
