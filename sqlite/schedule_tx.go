package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleTx carries out plans. The write lock of the file is the lock of the schedules.
type scheduleTx struct {
	txn   *txn
	taken []schedule.Taken
	gone  map[int64]bool // open runs whose jobs were deleted
}

var _ schedule.Tx = (*scheduleTx)(nil)

// carryOut decides about schedules and does what was decided.
func (t *txn) carryOut(taken []schedule.Taken, decide schedule.Decision) (schedule.Outcome, error) {
	return schedule.CarryOut(t.ctx, &scheduleTx{txn: t, taken: taken, gone: map[int64]bool{}}, decide)
}

// Look implements schedule.Tx.
func (s *scheduleTx) Look(context.Context) (schedule.Sight, error) {
	t := s.txn
	sight := schedule.Sight{Now: sqlstore.Time(t.now), Schedules: s.taken, Calendars: map[string]*schedule.Calendar{}, Newest: map[int64]time.Time{}}
	if len(s.taken) == 0 {
		return sight, nil
	}
	ids := make([]int64, len(s.taken))
	for i := range s.taken {
		ids[i] = s.taken[i].ID
		name := s.taken[i].Calendar
		if _, read := sight.Calendars[name]; read || name == "" {
			continue
		}
		calendar, err := t.calendar(name)
		if err != nil {
			return sight, err
		}
		sight.Calendars[name] = calendar
	}
	var err error
	if sight.Open, err = t.openFires(ids); err != nil {
		return sight, err
	}
	for _, fire := range sight.Open {
		if !fire.Active() && fire.EndedAt.IsZero() {
			s.gone[fire.Job] = true
		}
	}
	err = t.each(t.sql.NewestInstants, []any{idList(ids)}, func(row sqlstore.Scanner) error {
		var id, due int64
		err := row.Scan(&id, &due)
		sight.Newest[id] = sqlstore.Time(due)
		return err
	})
	return sight, err
}

// LastEnded implements schedule.Tx.
func (s *scheduleTx) LastEnded(_ context.Context, schedules []int64) ([]schedule.Fire, error) {
	return s.txn.scanFires(s.txn.sql.LastFires, idList(schedules))
}

// Taken implements schedule.Tx.
func (s *scheduleTx) Taken(_ context.Context, instants []schedule.Instant) (taken []schedule.Instant, err error) {
	asked := make([][2]int64, len(instants))
	for i, instant := range instants {
		asked[i] = [2]int64{instant.Schedule, sqlstore.Micros(instant.Due)}
	}
	err = s.txn.each(s.txn.sql.TakenInstants, []any{jsonOf(asked)}, func(row sqlstore.Scanner) error {
		var id, due int64
		var shared bool
		err := row.Scan(&id, &due, &shared)
		taken = append(taken, schedule.Instant{Schedule: id, Due: sqlstore.Time(due), Shared: shared})
		return err
	})
	return taken, err
}

// Number implements schedule.Tx.
func (s *scheduleTx) Number(_ context.Context, jobs []*fairlead.Job) error {
	first, err := s.txn.next(jobCounter, int64(len(jobs)))
	for i, job := range jobs {
		job.ID = first + int64(i)
	}
	return err
}
