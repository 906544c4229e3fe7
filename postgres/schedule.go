package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutSchedule creates or replaces a schedule. It returns ErrConflict if the name is taken or
// the Version does not match the stored one, ErrNotFound if the schedule does not exist, and
// ErrInvalid if its calendar does not exist.
func (s *Store) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	put, err := s.newPutting(ctx, sc, restart)
	if err == nil {
		err = s.inTx(ctx, put.in)
	}
	if err = put.taken(err); err != nil {
		return schedule.Schedule{}, fmt.Errorf("put schedule: %w", err)
	}
	s.notifier.later() // it may be due sooner than any node knows
	return put.stored, nil
}

// putting stores a schedule.
type putting struct {
	*Store
	schedule schedule.Schedule
	restart  bool
	declared []any // columns of the row
	stored   schedule.Schedule
}

// newPutting finds out the lane before the transaction, which must not wait for a second
// connection.
func (s *Store) newPutting(ctx context.Context, schedule schedule.Schedule, restart bool) (*putting, error) {
	p := &putting{Store: s, schedule: schedule, restart: restart}
	body, err := sqlstore.EncodeSchedule(&schedule)
	if err != nil {
		return p, err
	}
	lanes, err := s.laneIDs(ctx, []*fairlead.Job{&schedule.Job})
	if err != nil {
		return p, err
	}
	p.declared = []any{
		schedule.Name, schedule.Job.Tenant, lanes[0], schedule.Calendar, jsonText(body), !schedule.Disabled,
		sqlstore.Micros(schedule.Due), sqlstore.Micros(schedule.FireAt), schedule.CalendarVersion,
	}
	return p, nil
}

// in stores the schedule in a transaction.
func (p *putting) in(ctx context.Context, r runner) error {
	id, err := p.schedule.ID, p.shareCalendar(ctx, r, p.schedule.Calendar)
	columns := slices.Clip(p.declared)
	switch {
	case err != nil:
		return err
	case p.schedule.Version == 0:
		id, err = p.addSchedule(ctx, r, p.schedule.Name, append(columns, sqlstore.Micros(p.schedule.CreatedAt)))
	default:
		err = p.replaceSchedule(ctx, r, &p.schedule, append(columns, id, p.restart))
	}
	if err != nil {
		return err
	}
	var rows []schedule.Record
	if err := r.run(ctx, p.scheduleRowsCall(&rows, id)); err != nil {
		return err
	}
	p.stored = rows[0].Schedule
	return nil
}

// taken returns ErrConflict if an error says that another schedule has the name, and
// other errors as they are.
func (p *putting) taken(err error) error {
	if nameTaken(err) {
		return schedule.NameTaken(p.schedule.Name)
	}
	return err
}

// nameTaken reports whether the server refused a value because it must be unique.
func nameTaken(err error) bool {
	const uniqueViolation = "23505"
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == uniqueViolation
}

// shareCalendar keeps the calendar of a schedule from being deleted before the
// schedule is stored.
func (s *Store) shareCalendar(ctx context.Context, r runner, name string) error {
	if name == "" {
		return nil
	}
	exists := false
	if err := r.run(ctx, call{sql: s.sql.ShareCalendar, args: []any{name}, each: hits(&exists)}); err != nil {
		return err
	}
	if !exists {
		return schedule.CalendarMissing(name)
	}
	return nil
}

// addSchedule stores a new schedule and returns its id.
func (s *Store) addSchedule(ctx context.Context, r runner, name string, declared []any) (id int64, err error) {
	err = r.run(ctx, call{sql: s.sql.AddSchedule, args: declared, each: func(row sqlstore.Scanner) error { return row.Scan(&id) }})
	if err == nil && id == 0 {
		err = schedule.NameTaken(name)
	}
	return id, err
}

func (s *Store) replaceSchedule(ctx context.Context, r runner, sc *schedule.Schedule, args []any) error {
	before, err := s.lockSchedule(ctx, r, sc.ID)
	switch {
	case err != nil:
		return err
	case before.Version != sc.Version:
		return schedule.VersionChanged(before.Name)
	}
	return r.run(ctx, call{sql: s.sql.ReplaceSchedule, args: args})
}

// scheduleRowsCall reads a schedule, deleted ones too.
func (s *Store) scheduleRowsCall(rows *[]schedule.Record, id int64) call {
	return call{sql: s.sql.ScheduleRows, args: []any{[]int64{id}}, restart: func() { *rows = nil }, each: func(row sqlstore.Scanner) error {
		one, err := sqlstore.ScanSchedule(row)
		*rows = append(*rows, one)
		return err
	}}
}

// lockSchedule lets no other transaction decide about a living schedule.
func (s *Store) lockSchedule(ctx context.Context, r runner, id int64) (schedule.Record, error) {
	var rows []schedule.Record
	err := r.run(ctx, call{sql: s.sql.LockSchedule, args: []any{[]int64{id}}}, s.scheduleRowsCall(&rows, id))
	switch {
	case err != nil:
		return schedule.Record{}, err
	case len(rows) == 0 || rows[0].Deleted:
		return schedule.Record{}, sqlstore.NoSuchSchedule(id)
	}
	return rows[0], nil
}

// DeleteSchedule removes a schedule and cancels its queued runs. Active runs continue.
// DeleteSchedule returns ErrNotFound if the schedule does not exist.
func (s *Store) DeleteSchedule(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	var gates []int64
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		gates = nil
		if _, err := s.lockSchedule(ctx, r, id); err != nil {
			return err
		}
		var open []schedule.Fire
		if err := r.run(ctx, call{sql: s.sql.DeleteSchedule, args: []any{id}}, s.openFiresCall(&open, []int64{id})); err != nil {
			return err
		}
		var queued []int64
		for i := range open {
			if open[i].Queued {
				queued = append(queued, open[i].Job)
			}
		}
		if len(queued) == 0 {
			return nil
		}
		// The next look at open runs finds that these have ended.
		return r.run(ctx,
			call{sql: s.sql.CancelRuns, args: []any{queued, nil, sqlstore.ScheduleDeleted, never}},
			s.leaveCall(ended, &gates, queued...))
	})
	if err != nil {
		return fmt.Errorf("delete schedule: %w", err)
	}
	s.admit(ctx, gates)
	return nil
}

// Schedules returns the matching live schedules, ordered by name or by next fire.
func (s *Store) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	var schedules []schedule.Schedule
	if err := s.run(ctx, s.schedulesCall(ctx, &schedules, filter)); err != nil {
		return nil, fmt.Errorf("schedules: %w", err)
	}
	return schedules, nil
}

func (s *Store) schedulesCall(ctx context.Context, schedules *[]schedule.Schedule, filter schedule.Filter) call {
	text := s.sql.SchedulesOfAll
	switch {
	case filter.Soonest:
		text = s.sql.SchedulesSoonest
	case len(filter.IDs) > 0:
		text = s.sql.SchedulesByID
	case len(filter.Names) > 0:
		text = s.sql.SchedulesByName
	case len(filter.Tenants) > 0:
		text = s.sql.SchedulesByTenant
	}
	return call{
		sql: text,
		args: []any{
			filter.After, sqlstore.SchedulePage(filter), filter.Enabled,
			distinct(filter.IDs), distinct(filter.Names), distinct(filter.Tenants),
		},
		restart: func() { *schedules = nil },
		each: sqlstore.Collect(ctx, schedules, func(row sqlstore.Scanner) (schedule.Schedule, error) {
			one, err := sqlstore.ScanSchedule(row)
			return one.Schedule, err
		}),
	}
}
