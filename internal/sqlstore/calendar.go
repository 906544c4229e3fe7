package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// calendarStore stores calendars.
type calendarStore struct {
	db  Database
	sql *CalendarStatements
}

// CalendarStatements holds the SQL statements of calendarStore.
type CalendarStatements struct {
	ChangeCalendars string `sql:"change_calendars"`
	LockCalendar    string `sql:"lock_calendar"`
	CalendarChange  string `sql:"calendar_change"`
	AddCalendar     string `sql:"add_calendar"`
	ReplaceCalendar string `sql:"replace_calendar"`
	CalendarUser    string `sql:"calendar_user"`
	DeleteCalendar  string `sql:"delete_calendar"`
	Calendars       string `sql:"calendars"`
}

// PutCalendar creates or replaces a calendar.
func (s *calendarStore) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	var stored schedule.Calendar
	var hit *int64
	err := s.db.InTx(MayWait(ctx), "put calendar", func(ctx context.Context, db DB) (err error) {
		stored, hit, err = s.put(ctx, db, calendar)
		return err
	})
	if err == nil && *hit == 0 { // another caller was faster
		err = fmt.Errorf("put calendar: %w", calendar.CheckVersion(0, true))
	}
	if err != nil {
		return schedule.Calendar{}, err
	}
	return stored, nil
}

// put queues the statement that stores the calendar and returns the stored calendar. The
// calendar is stored only if that statement hits a row. Each change gets a version larger
// than all earlier versions, even if the calendar was deleted and created again.
func (s *calendarStore) put(ctx context.Context, db DB, calendar schedule.Calendar) (stored schedule.Calendar, hit *int64, err error) {
	versions := s.lock(db, calendar.Name)
	var next, now int64
	db.QueueEach(func(row Scanner) error { return row.Scan(&next, &now) }, s.sql.CalendarChange)
	if err := db.Flush(ctx); err != nil {
		return calendar, nil, err
	}
	exists, version := len(*versions) > 0, int64(0)
	if exists {
		version = (*versions)[0]
	}
	if err := calendar.CheckVersion(version, exists); err != nil {
		return calendar, nil, err
	}
	calendar.Version, calendar.UpdatedAt = next, Time(now)
	body, err := encodeCalendar(&calendar)
	if err != nil {
		return calendar, nil, err
	}
	statement := s.sql.AddCalendar
	if exists {
		statement = s.sql.ReplaceCalendar
	}
	db.WakeLater() // schedules with this calendar may be due earlier than any node knows
	return calendar, db.Queue(statement, JSON(body), next, calendar.Name), nil
}

// lock queues the statements that prevent the calendar from being deleted or recreated, and
// returns its version if it exists.
func (s *calendarStore) lock(db DB, name string) *[]int64 {
	db.Queue(s.sql.ChangeCalendars, VersionStep())
	return queueList(db, scanNumber, s.sql.LockCalendar, name)
}

// DeleteCalendar removes a calendar that no schedule uses. A transaction that adds the
// calendar to a schedule locks the calendar, so that schedule is visible once
// DeleteCalendar has acquired the lock.
func (s *calendarStore) DeleteCalendar(ctx context.Context, name string) error {
	return s.db.InTx(MayWait(ctx), "delete calendar", func(ctx context.Context, db DB) error {
		versions := s.lock(db, name)
		users := queueList(db, scanText, s.sql.CalendarUser, name)
		if err := db.Flush(ctx); err != nil {
			return err
		}
		switch {
		case len(*versions) == 0:
			return noSuchCalendar(name)
		case len(*users) > 0:
			return fmt.Errorf("calendar %q is used by schedule %q: %w", name, (*users)[0], fairlead.ErrConflict)
		}
		db.Queue(s.sql.DeleteCalendar, name)
		return nil
	})
}

// Calendars lists all calendars by name.
func (s *calendarStore) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return ReadCalendars(ctx, s.db, s.sql)
}

// ReadCalendars lists all calendars of a database, sorted by name.
func ReadCalendars(ctx context.Context, database Database, statements *CalendarStatements) ([]schedule.Calendar, error) {
	return readList(ctx, database.ReadAll, "list calendars", ScanCalendar, statements.Calendars)
}

// calendarBody holds the declared fields of a calendar except its name. UpdatedAt is here
// rather than in a column: a program of an earlier version drops it when it replaces the
// calendar.
type calendarBody struct {
	Description string               `json:"description,omitempty"`
	Weekdays    []time.Weekday       `json:"weekdays,omitempty"`
	Dates       []string             `json:"dates,omitempty"`
	Ranges      []schedule.DateRange `json:"ranges,omitempty"`
	UpdatedAt   int64                `json:"updated_at,omitempty"` // microseconds
}

// encodeCalendar returns the declared fields of a calendar and its UpdatedAt as JSON.
func encodeCalendar(c *schedule.Calendar) ([]byte, error) {
	body, err := json.Marshal(calendarBody{Description: c.Description, Weekdays: c.Weekdays, Dates: c.Dates, Ranges: c.Ranges, UpdatedAt: Micros(c.UpdatedAt)})
	if err != nil {
		return nil, fmt.Errorf("encode calendar %q: %w", c.Name, err)
	}
	return body, nil
}

// ScanCalendar reads a calendar from the columns name, body and version.
func ScanCalendar(row Scanner) (c schedule.Calendar, err error) {
	var body []byte
	if err := row.Scan(&c.Name, &body, &c.Version); err != nil {
		return c, err
	}
	var b calendarBody
	if err := json.Unmarshal(body, &b); err != nil {
		return c, fmt.Errorf("calendar %q: %w", c.Name, err)
	}
	c.Description, c.Weekdays, c.Dates, c.Ranges = b.Description, b.Weekdays, b.Dates, b.Ranges
	c.UpdatedAt = Time(b.UpdatedAt)
	return c, nil
}

func noSuchCalendar(name string) error {
	return fmt.Errorf("calendar %q: %w", name, fairlead.ErrNotFound)
}
