package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Fires returns the matching runs of schedules, newest first.
func (s *Store) Fires(ctx context.Context, filter schedule.FireFilter) ([]schedule.Fire, error) {
	return read(ctx, s, "list runs", func(t *txn) ([]schedule.Fire, error) { return t.fires(filter) })
}

func (t *txn) fires(filter schedule.FireFilter) ([]schedule.Fire, error) {
	conditions, args := []string{"true"}, []any(nil)
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if filter.Schedule != 0 {
		add("f.schedule = ?", filter.Schedule)
	}
	if len(filter.Jobs) > 0 {
		add("f.job in (select value from json_each(?))", idList(filter.Jobs))
	}
	if filter.Below > 0 {
		add("f.job < ?", filter.Below)
	}
	query := t.sql.Fires + " where " + strings.Join(conditions, " and ") + " order by f.job desc limit " + strconv.Itoa(sqlstore.FirePage(filter))
	return t.scanFires(query, args...)
}

func (t *txn) scanFires(query string, args ...any) ([]schedule.Fire, error) {
	var fires []schedule.Fire
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		fire, err := sqlstore.ScanFire(row)
		fires = append(fires, fire)
		return err
	})
	return fires, err
}

// openFires reads the runs whose schedules are still to be told of their ends,
// oldest first.
func (t *txn) openFires(schedules []int64) ([]schedule.Fire, error) {
	return t.scanFires(t.sql.OpenFires, idList(schedules))
}
