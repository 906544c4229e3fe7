package sqlite

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

var _ schedule.Store = (*Store)(nil)

// PutSchedule creates or replaces a schedule. It returns ErrConflict if the name is taken or
// the Version does not match the stored one, ErrNotFound if the schedule does not exist, and
// ErrInvalid if its calendar does not exist.
func (s *Store) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	body, err := sqlstore.EncodeSchedule(&sc)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return inTx(ctx, s, "put schedule", func(t *txn) (schedule.Schedule, error) {
		return t.putSchedule(sc, string(body), restart)
	})
}

func (t *txn) putSchedule(s schedule.Schedule, body string, restart bool) (schedule.Schedule, error) {
	if err := t.checkCalendar(s.Calendar); err != nil {
		return schedule.Schedule{}, err
	}
	var stored schedule.Record
	if s.Version != 0 {
		var err error
		if stored, err = t.living(s.ID); err != nil {
			return schedule.Schedule{}, err
		}
		if stored.Version != s.Version {
			return schedule.Schedule{}, schedule.VersionChanged(stored.Name)
		}
	}
	if err := t.checkName(s.Name, stored.ID); err != nil {
		return schedule.Schedule{}, err
	}
	var err error
	id := stored.ID
	if id == 0 {
		id, err = t.addSchedule(&s, body)
	} else {
		if !restart {
			s.Cursor = stored.Cursor
		}
		err = t.must(1, t.sql.SetSchedule, s.Name, s.Job.Tenant, s.Calendar, !s.Disabled, body,
			stored.Version+1, t.now, sqlstore.Micros(s.Due), sqlstore.Micros(s.FireAt), s.CalendarVersion, id)
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	t.wakes.later = true
	row, err := t.living(id)
	return row.Schedule, err
}

func (t *txn) addSchedule(schedule *schedule.Schedule, body string) (int64, error) {
	id, err := t.next(scheduleCounter, 1)
	if err != nil {
		return 0, err
	}
	return id, t.must(1, t.sql.AddSchedule, id, schedule.Name, schedule.Job.Tenant, schedule.Calendar, !schedule.Disabled, body,
		1, cmp.Or(sqlstore.Micros(schedule.CreatedAt), t.now), t.now, sqlstore.Micros(schedule.Due), sqlstore.Micros(schedule.FireAt),
		schedule.CalendarVersion)
}

// checkName finds out whether a name is free for a schedule.
func (t *txn) checkName(name string, id int64) error {
	var other int64
	taken, err := t.one(t.sql.ScheduleNamed, []any{name}, &other)
	if err == nil && taken && other != id {
		err = schedule.NameTaken(name)
	}
	return err
}

// checkCalendar finds out whether a calendar exists, if one is named.
func (t *txn) checkCalendar(name string) error {
	if name == "" {
		return nil
	}
	var version int64
	exists, err := t.one(t.sql.LockCalendar, []any{name}, &version)
	if err == nil && !exists {
		err = schedule.CalendarMissing(name)
	}
	return err
}

// living reads a schedule that was not deleted.
func (t *txn) living(id int64) (schedule.Record, error) {
	rows, err := t.scheduleRows(t.sql.LockSchedules, idList([]int64{id}))
	if err != nil {
		return schedule.Record{}, err
	}
	if len(rows) == 0 {
		return schedule.Record{}, sqlstore.NoSuchSchedule(id)
	}
	return rows[0], nil
}

func (t *txn) scheduleRows(query string, args ...any) ([]schedule.Record, error) {
	var rows []schedule.Record
	err := t.each(query, args, sqlstore.Collect(t.ctx, &rows, sqlstore.ScanSchedule))
	return rows, err
}

// DeleteSchedule removes a schedule and cancels its queued runs. Its active runs continue. The
// schedule's row remains for these runs, but their ends are no longer reported to the
// schedule. DeleteSchedule returns ErrNotFound if the schedule does not exist.
func (s *Store) DeleteSchedule(ctx context.Context, id int64) error {
	_, err := inTx(ctx, s, "delete schedule", func(t *txn) (none, error) { return none{}, t.deleteSchedule(id) })
	return err
}

func (t *txn) deleteSchedule(id int64) error {
	if _, err := t.living(id); err != nil {
		return err
	}
	open, err := t.openFires([]int64{id})
	if err != nil {
		return err
	}
	for _, fire := range open {
		if !fire.Queued {
			continue
		}
		p, err := t.locate(fire.Job)
		if err != nil {
			return err
		}
		if err := t.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: sqlstore.ScheduleDeleted}); err != nil {
			return err
		}
	}
	if _, err := t.exec(t.sql.LeaveFires, id); err != nil {
		return err
	}
	return t.must(1, t.sql.DeleteSchedule, t.now, id)
}

// Schedules lists schedules that have not been deleted. It returns the matching schedules
// sorted by name or, if filter.Soonest is set, the schedules that are due soonest.
func (s *Store) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	return read(ctx, s, "list schedules", func(t *txn) ([]schedule.Schedule, error) { return t.schedules(filter) })
}

func (t *txn) schedules(filter schedule.Filter) ([]schedule.Schedule, error) {
	query, args := t.sql.SchedulesSoonest, []any{sqlstore.SchedulePage(filter)}
	if !filter.Soonest {
		query, args = t.sql.schedulesByName(filter)
	}
	rows, err := t.scheduleRows(query, args...)
	schedules := make([]schedule.Schedule, len(rows))
	for i := range rows {
		schedules[i] = rows[i].Schedule
	}
	return schedules, err
}

// schedulesByName is the statement that lists the schedules of a filter by name.
func (s *statements) schedulesByName(filter schedule.Filter) (query string, args []any) {
	conditions := []string{"deleted_at = 0"}
	add := func(condition string, arg any) {
		conditions, args = append(conditions, condition), append(args, arg)
	}
	if len(filter.IDs) > 0 {
		add("id in (select value from json_each(?))", idList(filter.IDs))
	}
	if len(filter.Names) > 0 {
		add("name in (select value from json_each(?))", jsonOf(filter.Names))
	}
	if len(filter.Tenants) > 0 {
		add("tenant in (select value from json_each(?))", jsonOf(filter.Tenants))
	}
	if filter.Enabled != nil {
		add("enabled = ?", *filter.Enabled)
	}
	if filter.After != "" {
		add("name > ?", filter.After)
	}
	return s.Schedules + " where " + strings.Join(conditions, " and ") + " order by name limit " + strconv.Itoa(sqlstore.SchedulePage(filter)), args
}
