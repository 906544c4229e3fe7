package sqlite

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// ReadSweeps implements sqlstore.SweepDialect. Conditions that a filter does not need are
// left away: SQLite plans a statement before it knows its arguments.
func (d database) ReadSweeps(ctx context.Context, db sqlstore.DB, filter sweep.Filter) ([]sweep.Record, error) {
	conditions, args := []string{"true"}, []any(nil)
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if len(filter.IDs) > 0 {
		add("id in (select value from json_each(?))", idList(filter.IDs))
	}
	if len(filter.Names) > 0 {
		add("name in (select value from json_each(?))", jsonOf(filter.Names))
	}
	if len(filter.States) > 0 {
		add("state in (select value from json_each(?))", jsonOf(filter.States))
	}
	if len(filter.Tenants) > 0 {
		add("tenant in (select value from json_each(?))", jsonOf(filter.Tenants))
	}
	if filter.Below > 0 {
		add("id < ?", filter.Below)
	}
	text := d.Store.sql.Sweeps + " where " + strings.Join(conditions, " and ") + " order by id desc limit " + strconv.Itoa(sqlstore.SweepPage(filter))
	sweeps, err := sqlstore.ReadSweepRows(ctx, db, text, args...)
	if err == nil {
		err = sqlstore.SumSweeps(ctx, db, sweeps, d.Store.sql.SweepSums)
	}
	return sweeps, err
}

// IsTaken implements sqlstore.SweepDialect.
func (database) IsTaken(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && slices.Contains([]int{codes.SQLITE_CONSTRAINT_UNIQUE, codes.SQLITE_CONSTRAINT_PRIMARYKEY}, e.Code())
}
