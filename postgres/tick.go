package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

const (
	roundsWindow = 10_000                 // open runs that a tick looks at for such that have ended
	roundsRest   = 100 * time.Millisecond // between two looks if there are more than that
)

// Tick processes schedules that are due and schedules whose runs have ended.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	ticked, err := s.heldUp.Tick(func(alone int64, heldUp []int64) (schedule.Ticked, error) {
		if alone != 0 {
			return s.tickAlone(ctx, alone, schedule.Always(decide))
		}
		return s.tick(ctx, max(0, limit), heldUp, schedule.Always(decide))
	})
	if err != nil {
		return schedule.Ticked{}, fmt.Errorf("tick: %w", err)
	}
	return ticked, nil
}

// tickAlone acts upon a schedule that was held up. Unless another process acts upon it, it is
// taken whether it is still due or not.
func (s *Store) tickAlone(ctx context.Context, id int64, decide schedule.Decision) (schedule.Ticked, error) {
	outcome, err := s.carryOut(ctx, func(ctx context.Context, t *scheduleTx) error {
		t.brief = true
		var locked []int64
		if err := t.begin(ctx, idsCall(&locked, t.sql.LockSchedules, []int64{id})); err != nil {
			return err
		}
		if len(locked) == 0 {
			return &sqlstore.LockedError{Cause: "another process is acting on the schedule"}
		}
		t.take(id, true)
		return nil
	}, decide)
	return schedule.Ticked{Schedules: outcome.Schedules, Runs: len(outcome.Fires)}, err
}

// tick acts upon schedules that are not held up.
func (s *Store) tick(ctx context.Context, limit int, heldUp []int64, decide schedule.Decision) (schedule.Ticked, error) {
	// Nearly always there is nothing to do, and then this is all.
	others, next, err := s.lookAround(ctx, limit, heldUp)
	if err != nil || next != 0 && len(others) == 0 {
		return schedule.Ticked{Next: next}, err
	}
	left := false
	outcome, err := s.carryOut(ctx, func(ctx context.Context, t *scheduleTx) (err error) {
		t.brief = true
		left, err = t.takeDue(ctx, limit, others, heldUp)
		return err
	}, decide, s.nextFireCall(&next, heldUp))
	if left {
		next = 0
	}
	return schedule.Ticked{Schedules: outcome.Schedules, Runs: len(outcome.Fires), Next: next}, err
}

// takeDue takes schedules that are due, and as many as may be taken beside them of
// those whose runs have ended or whose calendar has changed. It reports whether
// some of these are left. A quarter of what may be taken is left to these, so that schedules that
// catch up with what they missed do not keep them out.
func (t *scheduleTx) takeDue(ctx context.Context, limit int, found, heldUp []int64) (left bool, err error) {
	var due, others []int64
	calls := []call{idsCall(&due, t.sql.LockDueSchedules, limit-min(len(found), limit/4), heldUp)}
	if len(found) > 0 {
		calls = append(calls, idsCall(&others, t.sql.LockSchedules, found))
	}
	if err := t.begin(ctx, calls...); err != nil {
		return false, err
	}
	for _, id := range due {
		t.take(id, true)
	}
	for _, id := range others {
		switch {
		case t.wanted[id]:
		case len(t.ids) == limit:
			return true, nil
		default:
			t.take(id, false)
		}
	}
	return false, nil
}

// Act locks one schedule, calls decide and carries out the resulting plan. It returns
// ErrNotFound if the schedule does not exist.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	outcome, err := s.carryOut(ctx, func(ctx context.Context, t *scheduleTx) error {
		t.living = true
		t.take(id, true)
		return t.begin(ctx, call{sql: s.sql.LockSchedule, args: []any{id}})
	}, decide)
	if err != nil {
		return nil, fmt.Errorf("fire schedule: %w", err)
	}
	s.notifier.later() // it may be due sooner than any node knows
	return outcome.Fires, nil
}

// rounds is where the next look at open runs goes on. A job that ends does not report
// that to its schedule, because its own settlement would take longer. There are seldom
// so many open runs that one look does not reach all of them.
type rounds struct {
	window int // zero: roundsWindow

	mu       sync.Mutex
	schedule int64
	job      int64
	rest     time.Time // until then the store does not look
}

// lookAround looks for schedules with runs that have ended or whose calendar has
// changed, and tells how long it is until the next is due. It finds one more than
// may be taken, if there is one, and none that is held up.
func (s *Store) lookAround(ctx context.Context, limit int, heldUp []int64) (others []int64, next time.Duration, err error) {
	calendars := s.calendars.Begin()
	calls := []call{s.nextFireCall(&next, heldUp), s.outdatedCall(calendars, limit+1)}
	look := s.rounds.begin(limit)
	if look != nil {
		calls = append(calls, look.call(s))
	}
	if err := s.run(ctx, calls...); err != nil {
		return nil, next, err
	}
	if look != nil {
		others = s.rounds.end(look)
	}
	others = append(others, s.calendars.End(calendars)...)
	return slices.DeleteFunc(others, func(id int64) bool { return slices.Contains(heldUp, id) }), next, nil
}

// outdatedCall finds schedules that were computed with another version of their
// calendar than it has.
func (s *Store) outdatedCall(look *sqlstore.CalendarLook, most int) call {
	return call{sql: s.sql.OutdatedSchedules, args: []any{look.After, look.Window, most}, restart: look.Restart, each: func(row sqlstore.Scanner) error {
		var version, id int64
		err := row.Scan(&version, &id)
		look.Saw(version, id)
		return err
	}}
}

// glance is one look at open runs.
type glance struct {
	limit    int
	window   int
	schedule int64 // where it begins, then where it has come to
	job      int64
	ended    []int64 // schedules with runs that have ended, in order
	found    int     // such runs
	more     bool    // the window ended before the runs did
}

// most is how many runs a look finds: enough for all schedules that may be taken,
// unless very many runs of each have ended.
func (g *glance) most() int { return 4*g.limit + 100 }

func (g *glance) call(s *Store) call {
	c := call{sql: s.sql.LookAtOpen, args: []any{g.schedule, g.job, g.window, g.most()}}
	c.restart = func() { g.ended, g.found, g.more = nil, 0, false }
	c.each = func(row sqlstore.Scanner) error {
		ended := false
		err := row.Scan(&g.schedule, &g.job, &ended, &g.more)
		if ended {
			g.found++
		}
		if ended && (len(g.ended) == 0 || g.ended[len(g.ended)-1] != g.schedule) {
			g.ended = append(g.ended, g.schedule)
		}
		return err
	}
	return c
}

// begin is the next look, nil while there is none.
func (r *rounds) begin(limit int) *glance {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.rest) {
		return nil
	}
	look := &glance{limit: limit, window: roundsWindow, schedule: r.schedule, job: r.job}
	if r.window > 0 {
		look.window = r.window
	}
	return look
}

// end notes where the next look begins, and returns what this one has found.
func (r *rounds) end(g *glance) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(g.ended) > g.limit: // behind the last that may be taken
		g.ended = g.ended[:g.limit+1]
		r.schedule, r.job = g.ended[max(g.limit-1, 0)], math.MaxInt64
	case g.found == g.most():
		r.schedule, r.job = g.schedule, g.job
	case g.more:
		r.schedule, r.job, r.rest = g.schedule, g.job, time.Now().Add(roundsRest)
	default:
		r.schedule, r.job = 0, 0
	}
	return g.ended
}

// reset begins looking anew.
func (r *rounds) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.schedule, r.job, r.rest = 0, 0, time.Time{}
}

// nextFireCall reads how long it is until the next schedule is due that is not held up.
func (s *Store) nextFireCall(next *time.Duration, heldUp []int64) call {
	return call{sql: s.sql.NextFire, args: []any{heldUp}, restart: func() { *next = -1 }, each: func(row sqlstore.Scanner) error {
		var wait int64
		err := row.Scan(&wait)
		*next = time.Duration(min(wait, math.MaxInt64/1000)) * time.Microsecond
		return err
	}}
}

func idsCall(ids *[]int64, text string, args ...any) call {
	return call{sql: text, args: args, restart: func() { *ids = nil }, each: func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		*ids = append(*ids, id)
		return err
	}}
}
