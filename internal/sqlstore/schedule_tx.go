package sqlstore

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// ScheduleStatements holds the SQL statements of transactions that act on schedules.
type ScheduleStatements struct {
	NextFire          string `sql:"next_fire"`
	OutdatedCalendars string `sql:"outdated_calendars"`
	OutdatedSchedules string `sql:"outdated_schedules"`
	LockDueSchedules  string `sql:"lock_due_schedules"`
	LockSchedules     string `sql:"lock_schedules"`
	LockSchedule      string `sql:"lock_schedule"`
	ScheduleRows      string `sql:"schedule_rows"`
	LockOpenFires     string `sql:"lock_open_fires"`
	OpenFires         string `sql:"open_fires"`
	CalendarsOf       string `sql:"calendars_of"`
	NewestInstants    string `sql:"newest_instants"`
	LastFires         string `sql:"last_fires"`
	TakenInstants     string `sql:"taken_instants"`
	AddFires          string `sql:"add_fires"`
	AddOpenFires      string `sql:"add_open_fires"`
	CloseFires        string `sql:"close_fires"`
	DropLostFires     string `sql:"drop_lost_fires"`
	AdvanceSchedules  string `sql:"advance_schedules"`
	SeeCalendars      string `sql:"see_calendars"`
}

// scheduleTx is a transaction that acts on schedules, each under its lock. It implements
// schedule.Tx. Statements that only write are queued, so most transactions take three round
// trips on PostgreSQL, however many schedules are due.
type scheduleTx struct {
	db     RunTx
	sql    *ScheduleStatements
	bodies *ScheduleBodies
	lives  bool // the schedule must exist

	taken []schedule.Taken
	seen  map[int64]int64 // schedule → stored version of the calendar that it was computed with
	lost  map[int64]bool  // open runs whose jobs were deleted
}

var _ schedule.Tx = (*scheduleTx)(nil)

// queueLock queues a statement that locks schedules and returns the schedules that it has
// locked. If the store reads the rows of schedules separately, only their IDs are set.
func (t *scheduleTx) queueLock(statement string, args ...any) *[]schedule.Record {
	return queueList(t.db, func(row Scanner) (record schedule.Record, err error) {
		if t.sql.ScheduleRows == "" {
			return t.bodies.ScanSchedule(row)
		}
		err = row.Scan(&record.ID)
		return record, err
	}, statement, args...)
}

// take records that a schedule is locked.
func (t *scheduleTx) take(record schedule.Record, wanted bool) {
	t.taken = append(t.taken, schedule.Taken{Record: record, Wanted: wanted})
}

// ids returns the sorted IDs of the schedules that were taken.
func (t *scheduleTx) ids() List[int64] {
	ids := make(List[int64], len(t.taken))
	for i := range t.taken {
		ids[i] = t.taken[i].ID
	}
	slices.Sort(ids)
	return ids
}

// Look implements schedule.Tx. It also reserves the IDs of new jobs: a schedule that is due
// usually gets one run.
func (t *scheduleTx) Look(ctx context.Context) (schedule.Sight, error) {
	sight := schedule.Sight{Calendars: map[string]*schedule.Calendar{}, Newest: map[int64]time.Time{}}
	if len(t.taken) == 0 {
		return sight, nil
	}
	ids := t.ids()
	var rows *[]schedule.Record
	if t.sql.ScheduleRows != "" {
		rows = queueList(t.db, t.bodies.ScanSchedule, t.sql.ScheduleRows, ids)
	}
	open, err := t.queueOpen(ctx, ids)
	if err != nil {
		return sight, err
	}
	if t.mayNameCalendars() {
		t.db.QueueEach(func(row Scanner) error {
			calendar, err := ScanCalendar(row)
			sight.Calendars[calendar.Name] = &calendar
			return err
		}, t.sql.CalendarsOf, ids)
	}
	t.db.QueueEach(func(row Scanner) error {
		var id, due, now int64
		err := row.Scan(&id, &due, &now)
		if sight.Now = Time(now); due != 0 {
			sight.Newest[id] = Time(due)
		}
		return err
	}, t.sql.NewestInstants, ids)
	t.reserve()
	if err := t.db.Flush(ctx); err != nil {
		return sight, err
	}
	if rows != nil {
		t.complete(*rows)
	}
	if t.lives && (len(t.taken) == 0 || t.taken[0].Deleted) {
		return sight, NoSuchSchedule(ids[0])
	}
	for i := range t.taken {
		t.seen[t.taken[i].ID] = t.taken[i].CalendarVersion
	}
	for i := range *open {
		if fire := &(*open)[i]; !fire.Active() && fire.EndedAt.IsZero() {
			t.lost[fire.Job] = true
		}
	}
	sight.Schedules, sight.Open = t.taken, *open
	return sight, nil
}

// queueOpen queues the statement that reads the open runs of schedules. If the database locks
// them first and there are none, they are not read.
func (t *scheduleTx) queueOpen(ctx context.Context, ids List[int64]) (*[]schedule.Fire, error) {
	if t.sql.LockOpenFires != "" {
		locked := 0
		err := t.db.Each(ctx, func(Scanner) error { locked++; return nil }, t.sql.LockOpenFires, ids)
		if err != nil || locked == 0 {
			return &[]schedule.Fire{}, err
		}
	}
	return queueList(t.db, ScanFire, t.sql.OpenFires, ids), nil
}

// mayNameCalendars reports whether a schedule uses a calendar, as far as is known.
func (t *scheduleTx) mayNameCalendars() bool {
	return t.sql.ScheduleRows != "" || slices.ContainsFunc(t.taken, func(taken schedule.Taken) bool { return taken.Calendar != "" })
}

// reserve reserves an ID for each schedule that is due.
func (t *scheduleTx) reserve() {
	due := 0
	for i := range t.taken {
		if t.taken[i].Wanted {
			due++
		}
	}
	if due > 0 {
		t.db.Reserve(due)
	}
}

// complete replaces the IDs of the schedules that were taken with their rows.
func (t *scheduleTx) complete(rows []schedule.Record) {
	wanted := make(map[int64]bool, len(t.taken))
	for i := range t.taken {
		wanted[t.taken[i].ID] = t.taken[i].Wanted
	}
	t.taken = nil
	for _, row := range rows {
		t.take(row, wanted[row.ID])
	}
}

// LastEnded implements schedule.Tx.
func (t *scheduleTx) LastEnded(ctx context.Context, schedules []int64) ([]schedule.Fire, error) {
	return list(ctx, t.db, ScanFire, t.sql.LastFires, List[int64](schedules))
}

// Taken implements schedule.Tx.
func (t *scheduleTx) Taken(ctx context.Context, instants []schedule.Instant) ([]schedule.Instant, error) {
	var asked Rows
	for _, instant := range instants {
		asked.Add(instant.Schedule, Micros(instant.Due))
	}
	return list(ctx, t.db, func(row Scanner) (instant schedule.Instant, err error) {
		var due int64
		err = row.Scan(&instant.Schedule, &due, &instant.Shared)
		instant.Due = Time(due)
		return instant, err
	}, t.sql.TakenInstants, &asked)
}

// Number implements schedule.Tx.
func (t *scheduleTx) Number(ctx context.Context, jobs []*fairlead.Job) error {
	return t.db.Number(ctx, jobs)
}
