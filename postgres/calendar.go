package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutCalendar creates or replaces a calendar.
func (s *Store) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	ctx = sqlstore.MayWait(ctx)
	var stored schedule.Calendar
	err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
		stored, err = s.putCalendar(ctx, r, calendar)
		return err
	})
	if err != nil {
		return schedule.Calendar{}, fmt.Errorf("put calendar: %w", err)
	}
	s.notifier.later() // schedules that name it may be due sooner than any node knows
	return stored, nil
}

// putCalendar returns the calendar as stored.
func (s *Store) putCalendar(ctx context.Context, r runner, calendar schedule.Calendar) (schedule.Calendar, error) {
	before, exists, err := s.lockCalendar(ctx, r, calendar.Name)
	if err == nil {
		err = sqlstore.CheckCalendarVersion(calendar, before, exists)
	}
	if err != nil {
		return calendar, err
	}
	now := int64(0)
	if err := r.run(ctx, call{sql: s.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }}); err != nil {
		return calendar, err
	}
	calendar.UpdatedAt = sqlstore.Time(now)
	body, err := sqlstore.EncodeCalendar(&calendar)
	if err != nil {
		return calendar, err
	}
	text := s.sql.AddCalendar
	if exists {
		text = s.sql.ReplaceCalendar
	}
	stored := false
	err = r.run(ctx, call{sql: text, args: []any{calendar.Name, jsonText(body)}, each: func(row sqlstore.Scanner) error {
		stored = true
		return row.Scan(&calendar.Version)
	}})
	if err == nil && !stored { // another was faster
		err = sqlstore.CheckCalendarVersion(calendar, 0, true)
	}
	return calendar, err
}

func (s *Store) lockCalendar(ctx context.Context, r runner, name string) (version int64, exists bool, err error) {
	err = r.run(ctx, call{sql: s.sql.LockCalendar, args: []any{name}, each: func(row sqlstore.Scanner) error {
		exists = true
		return row.Scan(&version)
	}})
	return version, exists, err
}

// DeleteCalendar removes a calendar that no schedule names. A schedule that is
// about to name it has it locked: it is there when this looks for it.
func (s *Store) DeleteCalendar(ctx context.Context, name string) error {
	ctx = sqlstore.MayWait(ctx)
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		switch _, exists, err := s.lockCalendar(ctx, r, name); {
		case err != nil:
			return err
		case !exists:
			return sqlstore.NoSuchCalendar(name)
		}
		user := ""
		err := r.run(ctx, call{sql: s.sql.CalendarUsers, args: []any{name}, each: func(row sqlstore.Scanner) error { return row.Scan(&user) }})
		switch {
		case err != nil:
			return err
		case user != "":
			return sqlstore.CalendarInUse(name, user)
		}
		return r.run(ctx, call{sql: s.sql.DeleteCalendar, args: []any{name}})
	})
	if err != nil {
		return fmt.Errorf("delete calendar: %w", err)
	}
	return nil
}

// Calendars lists all calendars by name.
func (s *Store) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	var calendars []schedule.Calendar
	err := s.runPlain(ctx, call{sql: s.sql.Calendars, restart: func() { calendars = nil }, each: func(row sqlstore.Scanner) error {
		calendar, err := sqlstore.ScanCalendar(row)
		calendars = append(calendars, calendar)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("calendars: %w", err)
	}
	return calendars, nil
}
