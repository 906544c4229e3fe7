package mysql

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Tick acts on at most limit schedules that are due or have runs that have ended.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return s.heldUp.Tick(func(alone int64, heldUp []int64) (schedule.Ticked, error) {
		if alone != 0 {
			return s.tickAlone(ctx, alone, schedule.Always(decide))
		}
		return s.tick(ctx, limit, heldUp, schedule.Always(decide))
	})
}

// tickAlone acts upon a schedule that was held up. Unless another process acts upon it, it is
// taken whether it is still due or not.
func (s *Store) tickAlone(ctx context.Context, id int64, decide schedule.Decision) (schedule.Ticked, error) {
	outcome, err := s.carryOut(ctx, "tick",
		func(ctx context.Context, t *scheduleTx) error {
			locked, err := t.lockSchedules(ctx, &t.bodies, []int64{id}, skipLocked)
			if err != nil {
				return err
			}
			if len(locked) == 0 {
				return &sqlstore.LockedError{Cause: "another process is acting on the schedule"}
			}
			t.take(locked, true)
			return t.waitNever(ctx)
		},
		decide,
		func(context.Context, *scheduleTx) error { return nil })
	return schedule.Ticked{Schedules: outcome.Schedules, Runs: len(outcome.Fires)}, err
}

// tick acts upon schedules that are not held up. It holds many of them, so it does not wait for
// what another transaction holds, not even in the server, where a wait outlives a killed process:
// it lets go of all of them and looks again a few times.
func (s *Store) tick(ctx context.Context, limit int, heldUp []int64, decide schedule.Decision) (schedule.Ticked, error) {
	begun := time.Now()
	ticked, err := s.tickOnce(ctx, limit, heldUp, decide)
	for _, pause := range heldPauses {
		var locked *sqlstore.LockedError
		if !errors.As(err, &locked) || time.Since(begun) >= heldPatience || !paused(ctx, pause) {
			break
		}
		ticked, err = s.tickOnce(ctx, limit, heldUp, decide)
	}
	return ticked, err
}

func (s *Store) tickOnce(ctx context.Context, limit int, heldUp []int64, decide schedule.Decision) (schedule.Ticked, error) {
	left, next := false, time.Duration(0)
	outcome, err := s.carryOut(ctx, "tick",
		func(ctx context.Context, t *scheduleTx) (err error) {
			t.heldUp = heldUp
			if left, err = t.takeDue(ctx, limit); err != nil {
				return err
			}
			return t.waitNever(ctx)
		},
		decide,
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

// Act calls decide for one schedule and carries out the plan. It returns ErrNotFound if the
// schedule does not exist.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	outcome, err := s.carryOut(sqlstore.MayWait(ctx), "fire schedule",
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
// may be left. While more are due than it may take, a quarter is left to these, so that
// schedules that catch up with what they missed do not keep them out.
func (t *scheduleTx) takeDue(ctx context.Context, limit int) (left bool, err error) {
	now, err := t.clock(ctx)
	if err != nil {
		return false, err
	}
	most := max(0, limit)
	if t.crowded.Load() {
		most -= most / 4
	}
	var due []schedule.Record
	if err := t.each(ctx, collectSchedules(ctx, &t.bodies, &due), fill(t.sql.LockDueSchedules, "named", t.butHeldUp("id")), now, most); err != nil {
		return false, err
	}
	t.take(due, true)
	t.crowded.Store(len(due) == most)
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
	found := slices.DeleteFunc(slices.Clone(t.calendarRounds.End(look)), func(id int64) bool { return t.has(id) || slices.Contains(t.heldUp, id) })
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

// butLocked is the condition that a schedule is none of those that are locked or held up.
func (t *scheduleTx) butLocked() string {
	if len(t.taken) == 0 {
		return t.butHeldUp("o.schedule")
	}
	return "and o.schedule not in (" + idList(t.ids()) + ") " + t.butHeldUp("o.schedule")
}

// butHeldUp is the condition that a schedule is none of those that are held up.
func (t *scheduleTx) butHeldUp(column string) string {
	if len(t.heldUp) == 0 {
		return ""
	}
	return "and " + column + " not in (" + idList(t.heldUp) + ")"
}

// next is how long it is until the next schedule is due that is not held up.
func (t *scheduleTx) next(ctx context.Context) (time.Duration, error) {
	var next int64
	if found, err := t.one(ctx, []any{&next}, fill(t.sql.NextFire, "named", t.butHeldUp("id"))); err != nil || !found {
		return -1, err
	}
	now, err := t.clock(ctx)
	return until(next, now), err
}
