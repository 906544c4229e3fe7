package sqlite

import (
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// calendar reads a calendar, nil if there is none of the name.
func (t *txn) calendar(name string) (found *schedule.Calendar, err error) {
	err = t.each(t.sql.Calendar, []any{name}, func(row sqlstore.Scanner) error {
		calendar, err := sqlstore.ScanCalendar(row)
		found = &calendar
		return err
	})
	return found, err
}

// outdated lists schedules that were computed with another version of their calendar
// than it has: one of each such calendar, and more of the first.
func (t *txn) outdated(look *sqlstore.CalendarLook, limit int) error {
	look.Restart()
	type changed struct {
		name    string
		version int64
	}
	var first *changed
	err := t.each(t.sql.OutdatedCalendars, []any{look.After, look.Window}, func(row sqlstore.Scanner) error {
		var c changed
		var id int64
		err := row.Scan(&c.name, &c.version, &id)
		look.Saw(c.version, id)
		if id != 0 && first == nil {
			first = &c
		}
		return err
	})
	if err != nil || first == nil {
		return err
	}
	ids, err := t.list(t.sql.OutdatedSchedules, first.name, first.version, first.name, first.version, limit)
	look.Also(ids)
	return err
}
