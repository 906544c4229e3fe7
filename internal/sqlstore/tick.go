package sqlstore

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// tickStore acts on schedules.
type tickStore struct {
	db   Scheduling
	sql  *ScheduleStatements
	keep *tickMemory
}

// tickMemory holds a process's state between ticks.
type tickMemory struct {
	heldUp    HeldUp
	calendars CalendarRounds
	bodies    ScheduleBodies
}

// Tick acts on at most limit schedules that are due, have runs that have ended or use a
// calendar that has changed.
func (s *tickStore) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	ctx, cancel := s.db.WithTimeout(ctx)
	defer cancel()
	return s.keep.heldUp.Tick(func(alone int64, heldUp []int64) (schedule.Ticked, error) {
		if alone != 0 {
			return s.tickAlone(ctx, alone, schedule.Always(decide))
		}
		return s.tick(ctx, max(0, limit), heldUp, schedule.Always(decide))
	})
}

// tickAlone acts on a schedule that was held up. Unless another process is acting on it, the
// schedule is taken whether or not it is still due.
func (s *tickStore) tickAlone(ctx context.Context, id int64, decide schedule.Decision) (schedule.Ticked, error) {
	turn := &ScheduleTurn{Brief: true, of: s, decide: decide}
	turn.take = func(ctx context.Context, t *scheduleTx) error {
		locked := t.queueLock(t.sql.LockSchedules, List[int64]{id})
		if err := t.db.Flush(ctx); err != nil {
			return err
		}
		if len(*locked) == 0 {
			return &LockedError{Cause: "another process is acting on the schedule"}
		}
		t.take((*locked)[0], true)
		return nil
	}
	if err := s.db.ActOnSchedules(ctx, "tick", turn); err != nil {
		return schedule.Ticked{}, err
	}
	return turn.ticked(), nil
}

// tick acts on schedules that are not held up. Usually nothing is due and no run has ended.
// Then it only reads, in one round trip on PostgreSQL.
func (s *tickStore) tick(ctx context.Context, limit int, heldUp []int64, decide schedule.Decision) (schedule.Ticked, error) {
	others, next, err := s.lookAround(ctx, limit, heldUp)
	if err != nil || next != 0 && len(others) == 0 {
		return schedule.Ticked{Next: next}, err
	}
	left := false
	turn := &ScheduleTurn{Brief: true, Many: true, of: s, decide: decide}
	turn.take = func(ctx context.Context, t *scheduleTx) (err error) {
		left, err = t.takeDue(ctx, limit, others, heldUp)
		return err
	}
	turn.finish = func(db DB) { s.queueNext(db, &next, heldUp) }
	if err := s.db.ActOnSchedules(ctx, "tick", turn); err != nil {
		return schedule.Ticked{}, err
	}
	if left {
		next = 0
	}
	ticked := turn.ticked()
	ticked.Next = next
	return ticked, nil
}

// takeDue takes schedules that are due and, up to the limit, other schedules. It reports
// whether some of the others are left. A quarter of the limit is reserved for the others, so
// schedules that catch up with missed instants do not keep them out.
func (t *scheduleTx) takeDue(ctx context.Context, limit int, others, heldUp []int64) (left bool, err error) {
	due, found := t.queueLock(t.sql.LockDueSchedules, limit-min(len(others), limit/4), Except(heldUp)), &[]schedule.Record{}
	if len(others) > 0 {
		found = t.queueLock(t.sql.LockSchedules, List[int64](others))
	}
	if err := t.db.Flush(ctx); err != nil {
		return false, err
	}
	isDue := make(map[int64]bool, len(*due))
	for _, record := range *due {
		isDue[record.ID] = true
		t.take(record, true)
	}
	for _, record := range *found {
		switch {
		case isDue[record.ID]:
		case len(t.taken) == limit:
			return true, nil
		default:
			t.take(record, false)
		}
	}
	return false, nil
}

// Act locks one schedule, calls decide and carries out the resulting plan. It returns
// ErrNotFound if the schedule does not exist.
func (s *tickStore) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	turn := &ScheduleTurn{of: s}
	turn.decide = func(s schedule.Schedule, view schedule.View) (schedule.Plan, error) {
		plan, err := decide(s, view)
		if err != nil {
			err = Refusal{err} // no statement has written yet
		}
		return plan, err
	}
	turn.take = func(ctx context.Context, t *scheduleTx) error {
		t.lives = true
		locked := t.queueLock(t.sql.LockSchedule, List[int64]{id})
		if err := t.db.Flush(ctx); err != nil {
			return err
		}
		if len(*locked) == 0 {
			return NoSuchSchedule(id)
		}
		t.take((*locked)[0], true)
		return nil
	}
	turn.finish = func(db DB) { db.WakeLater() } // the schedule may be due earlier than any node knows
	if err := s.db.ActOnSchedules(MayWait(ctx), "fire schedule", turn); err != nil {
		return nil, err
	}
	return turn.outcome.Fires, nil
}

// lookAround returns schedules with runs that have ended or whose calendar has changed, one
// more than limit if there are more, and the time until the next schedule is due. It leaves
// out schedules that are held up.
func (s *tickStore) lookAround(ctx context.Context, limit int, heldUp []int64) (others []int64, next time.Duration, err error) {
	err = s.db.Read(ctx, "tick", func(ctx context.Context, db DB) error {
		s.queueNext(db, &next, heldUp)
		outdated := s.lookAtCalendars(db, limit+1)
		ended := s.db.LookAtOpenRuns(db, limit)
		if err := db.Flush(ctx); err != nil {
			return err
		}
		if others, err = ended(ctx); err != nil {
			return err
		}
		changed, err := outdated(ctx)
		others = append(others, changed...)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(others)
	others = slices.Compact(others)
	return slices.DeleteFunc(others, func(id int64) bool { return slices.Contains(heldUp, id) }), next, nil
}

// lookAtCalendars queues a statement that looks for schedules that were computed with another
// version of their calendar. Once it has run, outdated returns most of them, and one of each
// other calendar.
func (s *tickStore) lookAtCalendars(db DB, most int) (outdated func(ctx context.Context) ([]int64, error)) {
	look := s.keep.calendars.Begin()
	var first struct {
		calendar string
		version  int64
	}
	args := []any{look.After, look.Window}
	if s.sql.OutdatedSchedules == "" { // the first statement finds them all
		args = append(args, most)
	}
	db.QueueEach(func(row Scanner) error {
		var version, id int64
		var calendar string
		err := row.Scan(&version, &id, &calendar)
		look.Saw(version, id)
		if id != 0 && first.version == 0 {
			first.calendar, first.version = calendar, version
		}
		return err
	}, s.sql.OutdatedCalendars, args...)
	return func(ctx context.Context) ([]int64, error) {
		if s.sql.OutdatedSchedules != "" && first.version != 0 {
			ids, err := list(ctx, db, scanNumber, s.sql.OutdatedSchedules, first.calendar, first.version, most)
			if err != nil {
				return nil, err
			}
			look.Also(ids)
		}
		return s.keep.calendars.End(look), nil
	}
}

// queueNext queues a statement that sets next to the time until the next schedule is due that
// is not held up. It sets a negative time if there is none.
func (s *tickStore) queueNext(db DB, next *time.Duration, heldUp []int64) {
	*next = -1
	db.QueueEach(func(row Scanner) error {
		var wait int64
		err := row.Scan(&wait)
		*next = time.Duration(min(wait, math.MaxInt64/1000)) * time.Microsecond // a time may be too far for a duration
		return err
	}, s.sql.NextFire, Except(heldUp))
}
