package mysql

import (
	"context"
	"database/sql"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// pruneRequests removes the oldest answers to idempotent requests.
func (s *Store) pruneRequests(ctx context.Context, limit int) (removed int, err error) {
	err = s.inTx(ctx, "prune requests", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var old tuples
		removed = 0
		err = t.each(ctx, func(row *sql.Rows) error {
			var caller, key string
			err := row.Scan(&caller, &key)
			old.add().str(caller).str(key).end()
			removed++
			return err
		}, t.sql.LockOldOnce, now-fairlead.OnceWindow.Microseconds(), limit)
		if err != nil {
			return err
		}
		dropped, err := t.execRows(ctx, t.sql.PruneOnce, &old)
		return checkHits(removed, dropped, err)
	})
	return removed, err
}

// pruneEntries removes the oldest entries of the audit log.
func (s *Store) pruneEntries(ctx context.Context, limit int) (removed int, err error) {
	err = s.inTx(ctx, "prune the audit log", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var old []int64
		if err := t.each(ctx, collect(&old), t.sql.LockOldAudit, now-access.Window.Microseconds(), limit); err != nil {
			return err
		}
		removed = len(old)
		dropped, err := t.execIDs(ctx, t.sql.PruneAudit, old)
		return checkHits(removed, dropped, err)
	})
	return removed, err
}

// scheduleRetention is how long a deleted schedule is kept at least.
const scheduleRetention = 24 * time.Hour

// pruneSchedules removes schedules that were deleted long ago and have no runs left.
func (s *Store) pruneSchedules(ctx context.Context, limit int) (removed int, err error) {
	err = s.inTx(ctx, "prune schedules", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var old []int64
		if err := t.each(ctx, collect(&old), t.sql.LockOldSchedules, now-scheduleRetention.Microseconds(), limit); err != nil {
			return err
		}
		removed = len(old)
		dropped, err := t.execIDs(ctx, t.sql.DropSchedules, old)
		return checkHits(removed, dropped, err)
	})
	return removed, err
}
