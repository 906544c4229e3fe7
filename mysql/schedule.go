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

// PutSchedule creates or replaces a schedule. It returns ErrConflict if the name is taken or
// the Version does not match the stored one, ErrNotFound if the schedule does not exist, and
// ErrInvalid if its calendar does not exist.
func (s *Store) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (stored schedule.Schedule, err error) {
	ctx = sqlstore.MayWait(ctx)
	body, err := sqlstore.EncodeSchedule(&sc)
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("put schedule: %w", err)
	}
	err = s.inTx(ctx, "put schedule", func(ctx context.Context, t *txn) error {
		stored, err = t.putSchedule(ctx, sc, body, restart)
		return err
	})
	if err != nil {
		return schedule.Schedule{}, err
	}
	return stored, nil
}

func (t *txn) putSchedule(ctx context.Context, sc schedule.Schedule, body []byte, restart bool) (schedule.Schedule, error) {
	stored, err := t.storeSchedule(ctx, sc, body, restart)
	if isDuplicate(err) {
		err = schedule.NameTaken(sc.Name)
	}
	return stored, err
}

func (t *txn) storeSchedule(ctx context.Context, sc schedule.Schedule, body []byte, restart bool) (schedule.Schedule, error) {
	var calendar any // null if there is none
	version := int64(0)
	if sc.Calendar != "" {
		exists, err := t.one(ctx, []any{&version}, t.sql.ShareCalendar, sc.Calendar)
		if err != nil {
			return sc, err
		}
		if !exists {
			return sc, schedule.CalendarMissing(sc.Calendar)
		}
		calendar = sc.Calendar
	}
	t.wakes.later = true // it may be due sooner than any other
	if sc.Version == 0 {
		sc.Outdated = sc.CalendarVersion != version
		return t.addSchedule(ctx, sc, calendar, body)
	}
	stored, err := t.lockSchedule(ctx, sc.ID)
	if err != nil {
		return sc, err
	}
	if stored.Version != sc.Version {
		return sc, schedule.VersionChanged(stored.Name)
	}
	now, err := t.clock(ctx)
	if err != nil {
		return sc, err
	}
	sc.Version, sc.CreatedAt, sc.UpdatedAt = stored.Version+1, stored.CreatedAt, sqlstore.Time(now)
	if !restart {
		sc.Cursor = stored.Cursor
	}
	sc.Outdated = sc.CalendarVersion != version
	_, err = t.exec(ctx, t.sql.SetSchedule, sc.Name, sc.Job.Tenant, calendar, !sc.Disabled, body, sc.Version, now,
		sqlstore.Micros(sc.Due), sqlstore.Micros(sc.FireAt), nextFire(&sc), sc.CalendarVersion, sc.ID)
	return sc, err
}

func (t *txn) addSchedule(ctx context.Context, schedule schedule.Schedule, calendar any, body []byte) (schedule.Schedule, error) {
	now, err := t.clock(ctx)
	if err != nil {
		return schedule, err
	}
	made := cmp.Or(sqlstore.Micros(schedule.CreatedAt), now)
	result, err := t.tx.ExecContext(ctx, t.sql.AddSchedule, schedule.Name, schedule.Job.Tenant, calendar, !schedule.Disabled, body, made, now,
		sqlstore.Micros(schedule.Due), sqlstore.Micros(schedule.FireAt), nextFire(&schedule), schedule.CalendarVersion)
	if err != nil {
		return schedule, err
	}
	schedule.ID, err = result.LastInsertId()
	schedule.Version, schedule.CreatedAt, schedule.UpdatedAt = 1, sqlstore.Time(made), sqlstore.Time(now)
	return schedule, err
}

// nextFire is when the schedule is acted upon by itself; null if it is not.
func nextFire(s *schedule.Schedule) any {
	if s.Disabled || s.FireAt.IsZero() {
		return nil
	}
	return sqlstore.Micros(s.FireAt)
}

// lockSchedule locks a living schedule.
func (t *txn) lockSchedule(ctx context.Context, id int64) (schedule.Record, error) {
	var locked []schedule.Record
	err := t.each(ctx, collectSchedules(ctx, &locked), fill(t.sql.LockSchedule, "list", decimal(id)))
	if err == nil && (len(locked) == 0 || locked[0].Deleted) {
		err = sqlstore.NoSuchSchedule(id)
	}
	if err != nil {
		return schedule.Record{}, err
	}
	return locked[0], nil
}

func collectSchedules(ctx context.Context, into *[]schedule.Record) func(*sql.Rows) error {
	collect := sqlstore.Collect(ctx, into, sqlstore.ScanSchedule)
	return func(row *sql.Rows) error { return collect(row) }
}

// DeleteSchedule removes a schedule and cancels its queued runs. Its active runs continue.
// DeleteSchedule returns ErrNotFound if the schedule does not exist.
func (s *Store) DeleteSchedule(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.inTx(ctx, "delete schedule", func(ctx context.Context, t *txn) error {
		if _, err := t.lockSchedule(ctx, id); err != nil {
			return err
		}
		open, err := t.openFires(ctx, id)
		if err != nil {
			return err
		}
		if err := t.endQueued(ctx, open); err != nil {
			return err
		}
		if err := t.closeFires(ctx, open); err != nil {
			return err
		}
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		return t.must(ctx, 1, t.sql.DeleteSchedule, now, id)
	})
}

// closeFires notes that open runs, which are locked, are not looked at any more.
func (t *txn) closeFires(ctx context.Context, runs []schedule.Fire) error {
	var closed sqlstore.Rows
	for _, run := range runs {
		closed.Add(run.Job, run.Schedule)
	}
	db := t.db()
	db.Must(len(runs), t.sql.CloseFires, &closed)
	return db.Flush(ctx)
}

// endQueued ends queued runs of a schedule that is deleted.
func (t *txn) endQueued(ctx context.Context, runs []schedule.Fire) error {
	var queued []int64
	for _, run := range runs {
		if run.Queued {
			queued = append(queued, run.Job)
		}
	}
	jobs, err := t.locateAll(ctx, queued)
	if err != nil {
		return err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return err
	}
	m := moves{now: now}
	for _, p := range jobs {
		if p.queued {
			m.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: sqlstore.ScheduleDeleted}, true)
		}
	}
	return t.write(ctx, &m)
}

// Schedules lists live schedules, ordered by name. If the filter sets Soonest, it lists the
// schedules that fire next instead.
func (s *Store) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	schedules, err := s.readSchedules(ctx, s.db, filter)
	if err != nil {
		return nil, fmt.Errorf("schedules: %w", err)
	}
	return schedules, nil
}

func (s *Store) readSchedules(ctx context.Context, q querier, filter schedule.Filter) ([]schedule.Schedule, error) {
	query, args := fill(s.sql.Schedules, "named", chosenSchedules(filter)), []any{filter.After, sqlstore.SchedulePage(filter)}
	if filter.Soonest {
		query, args = s.sql.SchedulesSoonest, []any{sqlstore.SchedulePage(filter)}
	}
	var locked []schedule.Record
	err := each(ctx, q, collectSchedules(ctx, &locked), query, args...)
	if err != nil {
		return nil, err
	}
	var schedules []schedule.Schedule
	for i := range locked {
		schedules = append(schedules, locked[i].Schedule)
	}
	return schedules, nil
}

// chosenSchedules are the conditions of a filter.
func chosenSchedules(filter schedule.Filter) string {
	var conditions strings.Builder
	if len(filter.IDs) > 0 {
		conditions.WriteString(" and id in (" + idList(filter.IDs) + ")")
	}
	for _, of := range []struct {
		column string
		names  []string
	}{{"name", filter.Names}, {"tenant", filter.Tenants}} {
		if len(of.names) > 0 {
			conditions.WriteString(" and " + of.column + " in (" + nameList(of.names) + ")")
		}
	}
	if filter.Enabled != nil {
		enabled := "0"
		if *filter.Enabled {
			enabled = "1"
		}
		conditions.WriteString(" and enabled = " + enabled)
	}
	return conditions.String()
}

// nameList is names as SQL text.
func nameList(names []string) string {
	var list tuples
	for _, name := range names {
		list.add().str(name).end()
	}
	return strings.Join(slices.Collect(list.chunks()), ",")
}
