package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutCalendar creates or replaces a calendar.
func (s *Store) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	return inTx(ctx, s, "put calendar", func(t *txn) (schedule.Calendar, error) { return t.putCalendar(calendar) })
}

func (t *txn) putCalendar(calendar schedule.Calendar) (schedule.Calendar, error) {
	stored, err := t.calendar(calendar.Name)
	if err != nil {
		return schedule.Calendar{}, err
	}
	version := int64(0)
	if stored != nil {
		version = stored.Version
	}
	if err := sqlstore.CheckCalendarVersion(calendar, version, stored != nil); err != nil {
		return schedule.Calendar{}, err
	}
	calendar.UpdatedAt = sqlstore.Time(t.now)
	body, err := sqlstore.EncodeCalendar(&calendar)
	if err != nil {
		return schedule.Calendar{}, err
	}
	if version, err = t.next(calendarCounter, 1); err != nil {
		return schedule.Calendar{}, err
	}
	if err := t.must(1, t.sql.PutCalendar, calendar.Name, string(body), version); err != nil {
		return schedule.Calendar{}, err
	}
	t.wakes.later = true // schedules that name it may be due sooner than any node knows
	stored, err = t.calendar(calendar.Name)
	if err != nil {
		return schedule.Calendar{}, err
	}
	return *stored, nil
}

// calendar reads a calendar, nil if there is none of the name.
func (t *txn) calendar(name string) (*schedule.Calendar, error) {
	calendars, err := t.calendars(t.sql.Calendar, name)
	if err != nil || len(calendars) == 0 {
		return nil, err
	}
	return &calendars[0], nil
}

func (t *txn) calendars(query string, args ...any) ([]schedule.Calendar, error) {
	var calendars []schedule.Calendar
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		calendar, err := sqlstore.ScanCalendar(row)
		calendars = append(calendars, calendar)
		return err
	})
	return calendars, err
}

// DeleteCalendar removes a calendar that no living schedule names.
func (s *Store) DeleteCalendar(ctx context.Context, name string) error {
	_, err := inTx(ctx, s, "delete calendar", func(t *txn) (none, error) { return none{}, t.deleteCalendar(name) })
	return err
}

func (t *txn) deleteCalendar(name string) error {
	var schedule string
	used, err := t.one(t.sql.CalendarUsed, []any{name}, &schedule)
	if err != nil {
		return err
	}
	if used {
		return sqlstore.CalendarInUse(name, schedule)
	}
	hit, err := t.exec(t.sql.DeleteCalendar, name)
	if err == nil && hit == 0 {
		t.wrote = false
		err = sqlstore.NoSuchCalendar(name)
	}
	return err
}

// Calendars lists all calendars by name.
func (s *Store) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return read(ctx, s, "list calendars", func(t *txn) ([]schedule.Calendar, error) { return t.calendars(t.sql.Calendars) })
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
