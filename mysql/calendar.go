package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// readCalendars reads calendars inside a transaction.
func readCalendars(ctx context.Context, q querier, statement string) (calendars []schedule.Calendar, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		calendar, err := sqlstore.ScanCalendar(row)
		calendars = append(calendars, calendar)
		return err
	}, statement)
	return calendars, err
}

// outdated finds schedules that were computed with another version of their calendar
// than it has: one of each such calendar, and more of the first.
func (t *txn) outdated(ctx context.Context, look *sqlstore.CalendarLook, limit int) error {
	look.Restart()
	type changed struct {
		name    string
		version int64
	}
	var first *changed
	err := t.each(ctx, func(row *sql.Rows) error {
		var c changed
		var id int64
		err := row.Scan(&c.name, &c.version, &id)
		look.Saw(c.version, id)
		if id != 0 && first == nil {
			first = &c
		}
		return err
	}, t.sql.OutdatedCalendars, look.After, look.Window)
	if err != nil || first == nil {
		return err
	}
	var ids []int64
	err = t.each(ctx, collect(&ids), t.sql.OutdatedSchedules, first.name, first.version, limit, first.name, first.version, limit)
	look.Also(ids)
	return err
}
