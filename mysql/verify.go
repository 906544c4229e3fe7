package mysql

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// rehold gives every running and waiting job the quotas of the current rules, and
// counts the quotas again. It returns the counts that were wrong.
//
// The result is exact: the lock of the rules keeps claims out, and a transaction that
// settles a job has locked the job's row. Locking all rows waits for such transactions,
// and a later read sees what they gave back.
func (r *ruleChange) rehold(ctx context.Context) ([]driver.Drift, error) {
	rules := sqlstore.NewRules(r.version, nil, r.parents, sqlstore.PlainQuotas(r.quotas))
	found := map[int32]int{}
	for _, place := range []struct{ lock, hold string }{
		{r.sql.LockAllRunning, r.sql.HoldRunning},
		{r.sql.LockAllWaiting, r.sql.HoldWaiting},
	} {
		holders, err := r.lockHolders(ctx, place.lock)
		if err != nil {
			return nil, err
		}
		if err := r.move(ctx, rules, holders, place.hold, found); err != nil {
			return nil, err
		}
	}
	return r.recount(ctx, found)
}

// holder is a lane, and the set of quotas that jobs of it count against.
type holder struct{ lane, set int32 }

// lockHolders locks all jobs of a place.
func (r *ruleChange) lockHolders(ctx context.Context, statement string) (map[holder][]int64, error) {
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

// move gives the jobs of a place the sets of the current rules, and counts them per
// quota.
func (r *ruleChange) move(ctx context.Context, rules *sqlstore.Rules, holders map[holder][]int64, hold string, found map[int32]int) error {
	groups := slices.Collect(maps.Keys(holders))
	lists := make([][]int32, len(groups))
	for i, h := range groups {
		lane, err := r.laneKey(ctx, h.lane)
		if err != nil {
			return err
		}
		lists[i] = rules.Of(lane)
		for _, q := range lists[i] {
			found[q] += len(holders[h])
		}
	}
	sets, err := r.setsOf(ctx, lists)
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

// recount sets the use of all quotas to what was found. It reads their rows again:
// those that were read before the jobs were locked are outdated.
func (r *ruleChange) recount(ctx context.Context, found map[int32]int) ([]driver.Drift, error) {
	quotas, err := readQuotas(ctx, r.tx, r.sql.Quotas)
	if err != nil {
		return nil, err
	}
	var drift []driver.Drift
	kept := tuples{json: true}
	changed := 0
	for _, q := range quotas {
		if n := found[q.ID]; q.running != n || q.freed != 0 {
			kept.add().ints(int64(q.ID), int64(n)).float(q.tokens).int(q.refilledAt).end()
			changed++
			if q.running != n {
				drift = append(drift, driver.Drift{Scope: q.Rule.Scope, Name: q.Rule.Name, Counted: q.running, Found: n})
			}
		}
	}
	if _, err := r.exec(ctx, r.sql.DropDeltas); err != nil {
		return nil, err
	}
	hit, err := r.execRows(ctx, r.sql.KeepQuotas, &kept)
	return drift, checkHits(changed, hit, err)
}
