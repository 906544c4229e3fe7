package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// tickChunk is how many schedules one transaction acts upon at most, so that
// no caller waits for long.
const tickChunk = 500

// Tick acts on schedules that are due, schedules whose runs have ended, and schedules whose
// calendars have changed. It looks for the latter two outside the write transaction, because
// this search reads every active run.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	limit = min(max(0, limit), tickChunk)
	look := s.calendars.Begin()
	found, err := read(ctx, s, "tick", func(t *txn) ([]int64, error) {
		if err := t.outdated(look, limit+1); err != nil {
			return nil, err
		}
		return t.list(t.sql.EndedSchedules, limit+1)
	})
	if err != nil {
		return schedule.Ticked{}, err
	}
	for _, id := range s.calendars.End(look) {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return inTx(ctx, s, "tick", func(t *txn) (schedule.Ticked, error) {
		return t.tick(limit, found, s.bodies.ScanSchedule, schedule.Always(decide))
	})
}

func (t *txn) tick(limit int, found []int64, scan func(sqlstore.Scanner) (schedule.Record, error), decide schedule.Decision) (schedule.Ticked, error) {
	// A quarter is left to those that are not due, so that schedules that catch up with what
	// they missed do not keep them out.
	due, err := t.scanSchedules(scan, t.sql.DueSchedules, t.now, limit-min(len(found), limit/4))
	if err != nil {
		return schedule.Ticked{}, err
	}
	isDue := make(map[int64]bool, len(due))
	for _, row := range due {
		isDue[row.ID] = true
	}
	var others []int64
	for _, id := range found {
		if !isDue[id] {
			others = append(others, id)
		}
	}
	room := min(limit-len(due), len(others))
	rows, err := t.scanSchedules(scan, t.sql.SchedulesByID, idList(others[:room]))
	if err != nil {
		return schedule.Ticked{}, err
	}
	taken := make([]schedule.Taken, 0, len(due)+len(rows))
	for _, row := range append(due, rows...) {
		taken = append(taken, schedule.Taken{Record: row, Wanted: isDue[row.ID]})
	}
	outcome, err := t.carryOut(taken, decide)
	if err != nil {
		return schedule.Ticked{}, err
	}
	next, err := t.untilFire()
	if room < len(others) {
		next = 0
	}
	return schedule.Ticked{Schedules: outcome.Schedules, Runs: len(outcome.Fires), Next: next}, err
}

// untilFire tells how long it is until the next schedule is due.
func (t *txn) untilFire() (time.Duration, error) {
	var next int64
	found, err := t.one(t.sql.NextFire, nil, &next)
	if err != nil || !found {
		return -1, err
	}
	micros := min(max(0, next-t.now), math.MaxInt64/1000) // a time may be too far for a duration
	return time.Duration(micros) * time.Microsecond, nil
}

// Act acts on one schedule. It returns ErrNotFound if the schedule does not exist.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	answer, err := inTx(ctx, s, "fire schedule", func(t *txn) (acted, error) { return t.act(id, decide) })
	if err != nil {
		return nil, err
	}
	if answer.refused != nil {
		return nil, fmt.Errorf("fire schedule: %w", answer.refused)
	}
	return answer.fires, nil
}

// acted is the answer of Act: a refusal by decide is no failure of the transaction.
type acted struct {
	fires   []schedule.Fire
	refused error
}

func (t *txn) act(id int64, decide schedule.Decision) (acted, error) {
	row, err := t.living(id)
	if err != nil {
		return acted{}, err
	}
	var refused error
	outcome, err := t.carryOut([]schedule.Taken{{Record: row, Wanted: true}}, func(schedule schedule.Schedule, view schedule.View) (plan schedule.Plan, err error) {
		plan, refused = decide(schedule, view)
		return plan, refused
	})
	if refused != nil {
		return acted{refused: refused}, nil //nolint:nilerr // it is told with the answer, as nothing was written
	}
	if err != nil {
		return acted{}, err
	}
	t.wakes.later = true
	return acted{fires: outcome.Fires}, nil
}
