package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Tick acts upon schedules that are due, and such whose runs have ended.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	var ticked schedule.Ticked
	err := s.plan(ctx, "tick", func(ctx context.Context, p *planning) (err error) {
		ticked, err = p.tick(ctx, limit, decide)
		return err
	})
	if err != nil {
		return schedule.Ticked{}, err
	}
	return ticked, nil
}

// Act acts upon one schedule.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	ctx = sqlstore.MayWait(ctx)
	var made []schedule.Fire
	err := s.plan(ctx, "act upon schedule", func(ctx context.Context, p *planning) error {
		locked, err := p.lockSchedule(ctx, id)
		if err != nil {
			return err
		}
		p.add(locked)
		if err := p.look(ctx); err != nil {
			return err
		}
		if locked.plan, err = decide(locked.Schedule, locked.view); err != nil {
			return err
		}
		p.wakes.later = true // it may be due sooner than any other
		made, err = p.carryOut(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// planning is a transaction that acts upon schedules.
type planning struct {
	*txn
	bounds    map[string]int // of jobs that may be pending, by tenant
	now       int64          // read after the locks
	schedules []*lockedSchedule
	byID      map[int64]*lockedSchedule
}

// plan acts upon schedules. What it needs from outside of the transaction is read
// before: who has one connection does not wait for another.
func (s *Store) plan(ctx context.Context, verb string, f func(ctx context.Context, p *planning) error) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	bounds, err := s.pending.Bounds(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		t.fires = true
		return f(ctx, &planning{txn: t, bounds: bounds, byID: map[int64]*lockedSchedule{}})
	})
}

func (p *planning) add(locked ...*lockedSchedule) {
	for _, s := range locked {
		p.schedules = append(p.schedules, s)
		p.byID[s.ID] = s
	}
}

func (p *planning) tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (ticked schedule.Ticked, err error) {
	if err := p.lockDue(ctx, limit); err != nil {
		return ticked, err
	}
	more, err := p.lockEnded(ctx, limit-len(p.schedules))
	if err != nil {
		return ticked, err
	}
	outdated, err := p.lockOutdated(ctx, limit-len(p.schedules))
	if err != nil {
		return ticked, err
	}
	more = more || outdated
	if err := p.look(ctx); err != nil {
		return ticked, err
	}
	for _, s := range p.schedules {
		s.plan = decide(s.Schedule, s.view)
	}
	made, err := p.carryOut(ctx)
	if err != nil {
		return ticked, err
	}
	ticked.Schedules, ticked.Runs = len(p.schedules), len(made)
	if !more {
		ticked.Next, err = p.next(ctx)
	}
	return ticked, err
}

// lockDue locks schedules that are due.
func (p *planning) lockDue(ctx context.Context, limit int) error {
	now, err := p.clock(ctx)
	if err != nil {
		return err
	}
	var due []*lockedSchedule
	err = p.each(ctx, collectSchedules(&due), p.sql.LockDueSchedules, now, max(0, limit))
	p.add(due...)
	return err
}

// openWindow is how many open runs one tick looks through. If there are more, the
// next tick of this process goes on behind them.
const openWindow = 4000

// lockEnded locks schedules of open runs that have ended, besides those that are
// locked, and tells whether there may be more.
func (p *planning) lockEnded(ctx context.Context, limit int) (more bool, err error) {
	if limit <= 0 {
		return false, nil // Next tells whether more are due
	}
	after := p.openSeen.Load()
	var seen int
	var last sql.NullInt64
	if _, err := p.one(ctx, []any{&seen, &last}, p.sql.OpenWindow, after, openWindow); err != nil {
		return false, err
	}
	var ended []int64
	if seen > 0 {
		if err := p.each(ctx, collect(&ended), fill(p.sql.EndedSchedules, "named", p.butLocked()), after, last.Int64, limit); err != nil {
			return false, err
		}
	}
	switch {
	case len(ended) == limit:
		more = true // it looks here again
	case seen < openWindow:
		p.openSeen.Store(0)
	default:
		p.openSeen.Store(last.Int64)
	}
	slices.Sort(ended)
	locked, err := p.lockSchedules(ctx, ended, skipLocked)
	p.add(locked...)
	return more, err
}

// lockOutdated locks schedules whose calendar has changed since they were computed,
// besides those that are locked, and tells whether there may be more.
func (p *planning) lockOutdated(ctx context.Context, limit int) (more bool, err error) {
	if limit <= 0 {
		return false, nil // Next tells whether more are due
	}
	look := p.calendarRounds.Begin()
	if err := p.outdated(ctx, look, limit+len(p.schedules)+1); err != nil {
		return false, err
	}
	found := slices.DeleteFunc(slices.Clone(p.calendarRounds.End(look)), func(id int64) bool { return p.byID[id] != nil })
	if more = len(found) > limit; more {
		found = found[:limit]
	}
	slices.Sort(found)
	locked, err := p.lockSchedules(ctx, found, skipLocked)
	p.add(slices.DeleteFunc(locked, func(s *lockedSchedule) bool { return !s.Outdated })...) // another process was faster
	return more, err
}

// butLocked is the condition that a schedule is none of those that are locked.
func (p *planning) butLocked() string {
	if len(p.schedules) == 0 {
		return ""
	}
	return "and o.schedule not in (" + idList(p.ids()) + ")"
}

func (p *planning) ids() []int64 {
	ids := make([]int64, len(p.schedules))
	for i, s := range p.schedules {
		ids[i] = s.ID
	}
	slices.Sort(ids)
	return ids
}

// look finds out how the open runs of the schedules stand, closes those that have
// ended and drops the schedules that were deleted.
func (p *planning) look(ctx context.Context) error {
	open, err := p.openRuns(ctx, p.ids())
	if err != nil {
		return err
	}
	if p.now, err = p.clock(ctx); err != nil {
		return err
	}
	var ended []schedule.Fire
	for _, run := range open {
		s := p.byID[run.Schedule]
		if !run.State.Final() {
			s.view.Active = append(s.view.Active, run)
			continue
		}
		if run.EndedAt.IsZero() { // its job was deleted
			run.EndedAt = sqlstore.Time(p.now)
		}
		ended = append(ended, run)
		s.view.Ended = append(s.view.Ended, run)
		s.Ended(run)
	}
	if err := p.closeRuns(ctx, ended); err != nil {
		return err
	}
	p.schedules = slices.DeleteFunc(p.schedules, func(s *lockedSchedule) bool { return !s.alive })
	return p.complete(ctx)
}

// complete fills in the rest of what decisions are made from.
func (p *planning) complete(ctx context.Context) error {
	calendars, err := p.calendars(ctx)
	if err != nil {
		return err
	}
	for _, s := range p.schedules {
		s.view.Now, s.view.Calendar = sqlstore.Time(p.now), calendars[s.Calendar]
		s.view.Last, s.view.Skipped = s.Last, s.Skipped
		s.view.Ended, s.view.Standing = sqlstore.InOrderOfEnd(s.view.Ended), s.Standing
		if _, reopened := s.active(s.LastRun().Job); reopened {
			if s.view.Last, err = p.lastEnded(ctx, s.ID, s.view.Ended); err != nil {
				return err
			}
		}
	}
	return nil
}

// calendars are those that the schedules name.
func (p *planning) calendars(ctx context.Context) (map[string]*schedule.Calendar, error) {
	var names []string
	for _, s := range p.schedules {
		if s.Calendar != "" && !slices.Contains(names, s.Calendar) {
			names = append(names, s.Calendar)
		}
	}
	byName := map[string]*schedule.Calendar{}
	if len(names) == 0 {
		return byName, nil
	}
	found, err := readCalendars(ctx, p.tx, fill(p.sql.NamedCalendars, "list", nameList(names)))
	for i := range found {
		byName[found[i].Name] = &found[i]
	}
	return byName, err
}

// next is how long it is until the next schedule is due.
func (p *planning) next(ctx context.Context) (time.Duration, error) {
	var next sql.NullInt64
	if _, err := p.one(ctx, []any{&next}, p.sql.NextSchedule); err != nil || !next.Valid {
		return -1, err
	}
	now, err := p.clock(ctx)
	return until(next.Int64, now), err
}
