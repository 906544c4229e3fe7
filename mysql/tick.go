package mysql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Tick acts upon schedules that are due, and such whose runs have ended.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	left, next := false, time.Duration(0)
	outcome, err := s.carryOut(ctx, "tick",
		func(ctx context.Context, t *scheduleTx) (err error) {
			left, err = t.takeDue(ctx, limit)
			return err
		},
		schedule.Always(decide),
		func(ctx context.Context, t *scheduleTx) (err error) {
			if next = 0; !left {
				next, err = t.next(ctx)
			}
			return err
		})
	if err != nil {
		return schedule.Ticked{}, err
	}
	return schedule.Ticked{Schedules: outcome.Schedules, Runs: len(outcome.Fires), Next: next}, nil
}

// Act acts upon one schedule.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	outcome, err := s.carryOut(sqlstore.MayWait(ctx), "act upon schedule",
		func(ctx context.Context, t *scheduleTx) error {
			locked, err := t.lockSchedule(ctx, id)
			t.take([]schedule.Record{locked}, true)
			return err
		},
		decide,
		func(_ context.Context, t *scheduleTx) error {
			t.wakes.later = true // it may be due sooner than any other
			return nil
		})
	return outcome.Fires, err
}

// takeDue takes schedules that are due, and as many as may be taken beside them of those
// whose runs have ended or whose calendar has changed. It reports whether some of these
// may be left.
func (t *scheduleTx) takeDue(ctx context.Context, limit int) (left bool, err error) {
	now, err := t.clock(ctx)
	if err != nil {
		return false, err
	}
	var due []schedule.Record
	if err := t.each(ctx, collectSchedules(&t.bodies, &due), t.sql.LockDueSchedules, now, max(0, limit)); err != nil {
		return false, err
	}
	t.take(due, true)
	ended, err := t.takeEnded(ctx, limit-len(t.taken))
	if err != nil {
		return false, err
	}
	outdated, err := t.takeOutdated(ctx, limit-len(t.taken))
	return ended || outdated, err
}

// openWindow is how many open runs one tick looks through. If there are more, the
// next tick of this process goes on behind them.
const openWindow = 4000

// takeEnded takes schedules of open runs that have ended, besides those that are
// locked, and reports whether there may be more.
func (t *scheduleTx) takeEnded(ctx context.Context, limit int) (more bool, err error) {
	if limit <= 0 {
		return false, nil // Next shows whether more are due
	}
	after := t.openSeen.Load()
	var seen int
	var last sql.NullInt64
	if _, err := t.one(ctx, []any{&seen, &last}, t.sql.OpenWindow, after, openWindow); err != nil {
		return false, err
	}
	var ended []int64
	if seen > 0 {
		if err := t.each(ctx, collect(&ended), fill(t.sql.EndedSchedules, "named", t.butLocked()), after, last.Int64, limit); err != nil {
			return false, err
		}
	}
	switch {
	case len(ended) == limit:
		more = true // it looks here again
	case seen < openWindow:
		t.openSeen.Store(0)
	default:
		t.openSeen.Store(last.Int64)
	}
	slices.Sort(ended)
	locked, err := t.lockSchedules(ctx, &t.bodies, ended, skipLocked)
	t.take(locked, false)
	return more, err
}

// takeOutdated takes schedules whose calendar has changed since they were computed,
// besides those that are locked, and reports whether there may be more.
func (t *scheduleTx) takeOutdated(ctx context.Context, limit int) (more bool, err error) {
	if limit <= 0 {
		return false, nil // Next shows whether more are due
	}
	look := t.calendarRounds.Begin()
	if err := t.outdated(ctx, look, limit+len(t.taken)+1); err != nil {
		return false, err
	}
	found := slices.DeleteFunc(slices.Clone(t.calendarRounds.End(look)), t.has)
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	slices.Sort(found)
	locked, err := t.lockSchedules(ctx, &t.bodies, found, skipLocked)
	t.take(locked, false)
	return more, err
}

// has reports whether a schedule was taken.
func (t *scheduleTx) has(id int64) bool {
	return slices.ContainsFunc(t.taken, func(taken schedule.Taken) bool { return taken.ID == id })
}

// butLocked is the condition that a schedule is none of those that are locked.
func (t *scheduleTx) butLocked() string {
	if len(t.taken) == 0 {
		return ""
	}
	return "and o.schedule not in (" + idList(t.ids()) + ")"
}

// next is how long it is until the next schedule is due.
func (t *scheduleTx) next(ctx context.Context) (time.Duration, error) {
	var next sql.NullInt64
	if _, err := t.one(ctx, []any{&next}, t.sql.NextFire); err != nil || !next.Valid {
		return -1, err
	}
	now, err := t.clock(ctx)
	return until(next.Int64, now), err
}
