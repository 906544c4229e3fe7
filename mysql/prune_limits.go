package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
)

// pruneLimits removes what remains of deleted limits, once no job counts against them:
// their rows, the slots that jobs gave back, and the sets that contain them. It holds
// the lock of the limits, so no process claims or sets a limit meanwhile. A job that
// ends at this moment still counts: what it holds is read before the slots given back
// are removed.
func (s *Store) pruneLimits(ctx context.Context) error {
	var removed []int64
	if err := each(ctx, s.db, collect(&removed), s.sql.RemovedLimits); err != nil || len(removed) == 0 {
		return err
	}
	return s.inTx(ctx, "prune limits", func(ctx context.Context, t *txn) error {
		var version int64
		if _, err := t.one(ctx, []any{&version}, t.sql.LockLimitsVersion); err != nil {
			return err
		}
		var removed, used []int64
		if err := t.each(ctx, collect(&removed), t.sql.RemovedLimits); err != nil {
			return err
		}
		if err := t.each(ctx, collect(&used), t.sql.SetsInUse); err != nil {
			return err
		}
		members, err := t.allSets(ctx)
		if err != nil {
			return err
		}
		for _, set := range used {
			removed = slices.DeleteFunc(removed, func(limit int64) bool { return slices.Contains(members[set], limit) })
		}
		var sets []int64
		for set, limits := range members {
			if slices.ContainsFunc(limits, func(limit int64) bool { return slices.Contains(removed, limit) }) {
				sets = append(sets, set)
			}
		}
		for _, drop := range []struct {
			statement string
			ids       []int64
		}{{t.sql.DropDeltasOf, removed}, {t.sql.PruneLimits, removed}, {t.sql.DropSets, sets}} {
			for list := range idChunks(drop.ids) {
				if _, err := t.exec(ctx, fill(drop.statement, "ids", list)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// allSets returns the members of all sets of limits.
func (t *txn) allSets(ctx context.Context) (map[int64][]int64, error) {
	members := map[int64][]int64{}
	err := t.each(ctx, func(row *sql.Rows) error {
		var set int64
		var name string
		if err := row.Scan(&set, &name); err != nil {
			return err
		}
		for _, word := range strings.Fields(name) {
			limit, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return err
			}
			members[set] = append(members[set], limit)
		}
		return nil
	}, t.sql.AllSets)
	return members, err
}
