package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Fires returns the matching scheduled runs, newest first.
func (s *Store) Fires(ctx context.Context, filter schedule.FireFilter) ([]schedule.Fire, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	conditions, index := []string{"id > 0"}, "primary"
	if filter.Schedule != 0 {
		index = "listing"
		conditions = append(conditions, "schedule = "+decimal(filter.Schedule))
	}
	if len(filter.Jobs) > 0 {
		index = "primary"
		conditions = append(conditions, "id in ("+idList(filter.Jobs)+")")
	}
	if filter.Below > 0 {
		conditions = append(conditions, "id < "+decimal(filter.Below))
	}
	chosen := fill(s.sql.FiresChosen, "index", index, "named", strings.Join(conditions, " and "), "limit", decimal(sqlstore.FirePage(filter)))
	var runs []schedule.Fire
	err := each(ctx, s.db, collectFires(&runs), fill(s.sql.Fires, "choice", chosen))
	if err != nil {
		return nil, fmt.Errorf("fires: %w", err)
	}
	slices.SortFunc(runs, func(a, b schedule.Fire) int { return cmp.Compare(b.Job, a.Job) })
	return runs, nil
}

func collectFires(into *[]schedule.Fire) func(*sql.Rows) error {
	return func(row *sql.Rows) error {
		run, err := sqlstore.ScanFire(row)
		*into = append(*into, run)
		return err
	}
}

// openFires locks the open runs of a schedule, which is locked, and returns how they stand,
// oldest first.
func (t *txn) openFires(ctx context.Context, id int64) (open []schedule.Fire, err error) {
	locked, list := 0, decimal(id)
	count := func(*sql.Rows) error { locked++; return nil }
	if err := t.each(ctx, count, fill(t.sql.LockOpenFires, "list", list)); err != nil || locked == 0 {
		return nil, err
	}
	err = t.each(ctx, collectFires(&open), fill(t.sql.OpenFires, "list", list))
	return open, err
}
