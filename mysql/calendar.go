package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutCalendar creates or replaces a calendar.
func (s *Store) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	ctx = sqlstore.MayWait(ctx)
	var version int64
	err := s.changeCalendars(ctx, "put calendar", func(ctx context.Context, t *txn, next int64) error {
		var stored int64
		exists, err := t.one(ctx, []any{&stored}, t.sql.CalendarVersion, calendar.Name)
		if err != nil {
			return err
		}
		if err := sqlstore.CheckCalendarVersion(calendar, stored, exists); err != nil {
			return err
		}
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		calendar.UpdatedAt = sqlstore.Time(now)
		body, err := sqlstore.EncodeCalendar(&calendar)
		if err != nil {
			return err
		}
		version, t.wakes.later = next, true // schedules that name it may be due sooner than any node knows
		_, err = t.exec(ctx, t.sql.PutCalendar, calendar.Name, body, next)
		return err
	})
	if err != nil {
		return schedule.Calendar{}, err
	}
	calendar.Version = version
	return calendar, nil
}

// DeleteCalendar removes a calendar. Schedules that are about to name it have
// locked it: once it is removed, those that name it are all there.
func (s *Store) DeleteCalendar(ctx context.Context, name string) error {
	ctx = sqlstore.MayWait(ctx)
	return s.changeCalendars(ctx, "delete calendar", func(ctx context.Context, t *txn, _ int64) error {
		gone, err := t.exec(ctx, t.sql.DeleteCalendar, name)
		if err != nil {
			return err
		}
		if gone == 0 {
			return sqlstore.NoSuchCalendar(name)
		}
		var schedule string
		used, err := t.one(ctx, []any{&schedule}, t.sql.CalendarUser, name)
		if err == nil && used {
			err = sqlstore.CalendarInUse(name, schedule)
		}
		return err
	})
}

// changeCalendars changes calendars, one caller after the other. The version that
// the change makes is larger than any there was, also of a calendar that is made
// again.
func (s *Store) changeCalendars(ctx context.Context, verb string, change func(ctx context.Context, t *txn, version int64) error) error {
	return s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		result, err := t.tx.ExecContext(ctx, t.sql.ChangeCalendars, sqlstore.VersionStep())
		if err != nil {
			return err
		}
		version, err := result.LastInsertId()
		if err != nil {
			return err
		}
		return change(ctx, t, version)
	})
}

// Calendars lists all calendars by name.
func (s *Store) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	calendars, err := readCalendars(ctx, s.db, fill(s.sql.Calendars, "named", ""))
	if err != nil {
		return nil, fmt.Errorf("calendars: %w", err)
	}
	return calendars, nil
}

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
