package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// roundsWindow is how many open runs a tick looks at for such that have ended.
const roundsWindow = 10_000

// Tick acts upon schedules that are due, and upon such whose runs have ended.
func (s *Store) Tick(ctx context.Context, limit int, decide func(fairlead.Schedule, fairlead.View) fairlead.Plan) (fairlead.Ticked, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	ticked, err := s.tick(ctx, limit, func(schedule fairlead.Schedule, view fairlead.View) (fairlead.Plan, error) {
		return decide(schedule, view), nil
	})
	if err != nil {
		return fairlead.Ticked{}, fmt.Errorf("tick: %w", err)
	}
	return ticked, nil
}

func (s *Store) tick(ctx context.Context, limit int, decide decision) (fairlead.Ticked, error) {
	// Nearly always there is nothing to do, and then this is all.
	ended, next, err := s.lookAround(ctx, limit)
	if err != nil || next != 0 && len(ended) == 0 {
		return fairlead.Ticked{Next: next}, err
	}
	acting, err := s.newActing(ctx, decide)
	if err != nil {
		return fairlead.Ticked{}, err
	}
	left := false
	err = s.transact(ctx, func(ctx context.Context, r runner) (err error) {
		acting.restart(r)
		if left, err = acting.take(ctx, limit, ended); err != nil {
			return err
		}
		return acting.act(ctx, s.nextFireCall(&next))
	})
	if err != nil {
		return fairlead.Ticked{}, err
	}
	acting.tell(ctx)
	if left {
		next = 0
	}
	return fairlead.Ticked{Schedules: acting.decided, Runs: acting.made, Next: next}, nil
}

// Act acts upon one schedule.
func (s *Store) Act(ctx context.Context, id int64, decide func(fairlead.Schedule, fairlead.View) (fairlead.Plan, error)) ([]fairlead.Fire, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	fires, err := s.actUpon(ctx, id, decide)
	if err != nil {
		return nil, fmt.Errorf("act upon schedule: %w", err)
	}
	return fires, nil
}

func (s *Store) actUpon(ctx context.Context, id int64, decide decision) ([]fairlead.Fire, error) {
	acting, err := s.newActing(ctx, decide)
	if err != nil {
		return nil, err
	}
	err = s.transact(ctx, func(ctx context.Context, r runner) error {
		acting.restart(r)
		if err := acting.takeOne(ctx, id); err != nil {
			return err
		}
		return acting.act(ctx)
	})
	if err != nil {
		return nil, err
	}
	acting.tell(ctx)
	s.waker.later() // it may be due sooner than anybody knows
	return acting.fires(), nil
}

// rounds is where looking at open runs goes on. Nobody tells that a run has ended:
// a job's own way would become longer by that. There are seldom so many open runs
// that one look does not reach all of them.
type rounds struct {
	mu       sync.Mutex
	schedule int64
	job      int64
}

// lookAround looks for schedules with runs that have ended, and tells how long it
// is until the next is due. It finds one more than may be taken, if there is one.
func (s *Store) lookAround(ctx context.Context, limit int) (ended []int64, next time.Duration, err error) {
	s.rounds.mu.Lock()
	schedule, job := s.rounds.schedule, s.rounds.job
	s.rounds.mu.Unlock()
	more := false
	look := call{sql: s.sql.LookAtOpen, args: []any{schedule, job, roundsWindow}}
	look.restart = func() { ended, more = nil, false }
	look.each = func(row sqlstore.Scanner) error {
		has := false
		err := row.Scan(&schedule, &job, &has, &more)
		if has && (len(ended) == 0 || ended[len(ended)-1] != schedule) {
			ended = append(ended, schedule)
		}
		return err
	}
	if err := s.run(ctx, look, s.nextFireCall(&next)); err != nil {
		return nil, 0, err
	}
	switch {
	case len(ended) > limit: // it goes on behind the last that may be taken
		ended = ended[:limit+1]
		schedule, job = ended[max(limit-1, 0)], math.MaxInt64
	case !more:
		schedule, job = 0, 0
	}
	s.rounds.mu.Lock()
	s.rounds.schedule, s.rounds.job = schedule, job
	s.rounds.mu.Unlock()
	return ended, next, nil
}

// nextFireCall reads how long it is until the next schedule is due.
func (s *Store) nextFireCall(next *time.Duration) call {
	return call{sql: s.sql.NextFire, restart: func() { *next = -1 }, each: func(row sqlstore.Scanner) error {
		var wait int64
		err := row.Scan(&wait)
		*next = time.Duration(min(wait, math.MaxInt64/1000)) * time.Microsecond
		return err
	}}
}

// take takes schedules that are due, and as many as may be taken beside them of
// those whose runs have ended. It tells whether some of these are left.
func (a *acting) take(ctx context.Context, limit int, ended []int64) (left bool, err error) {
	var due, others []int64
	calls := []call{idsCall(&due, a.sql.LockDue, limit)}
	if len(ended) > 0 {
		calls = append(calls, idsCall(&others, a.sql.LockSchedules, ended))
	}
	if err := a.in.run(ctx, calls...); err != nil {
		return false, err
	}
	for _, id := range due {
		a.subjects = append(a.subjects, newSubject(id, true))
	}
	for _, id := range others {
		switch {
		case slices.Contains(due, id):
		case len(a.subjects) == limit:
			return true, nil
		default:
			a.subjects = append(a.subjects, newSubject(id, false))
		}
	}
	return false, nil
}

// takeOne takes a living schedule, once nobody else decides about it.
func (a *acting) takeOne(ctx context.Context, id int64) error {
	row, err := a.lockSchedule(ctx, a.in, id)
	a.subjects = append(a.subjects, &subject{scheduleRow: row, wanted: true})
	return err
}

func idsCall(ids *[]int64, text string, args ...any) call {
	return call{sql: text, args: args, restart: func() { *ids = nil }, each: func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		*ids = append(*ids, id)
		return err
	}}
}
