package seal

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead/schedule"
)

// PutSchedule is part of schedule.Store.
func (s *Store) PutSchedule(ctx context.Context, put schedule.Schedule, restart bool) (schedule.Schedule, error) {
	return s.putSchedule(ctx, s.Store.PutSchedule, put, restart)
}

// Schedules is part of schedule.Store. What cannot be opened stays sealed.
func (s *Store) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	found, err := s.Store.Schedules(ctx, filter)
	s.openSchedules(found)
	return found, err
}

func (c coder) putSchedule(ctx context.Context, put func(context.Context, schedule.Schedule, bool) (schedule.Schedule, error), s schedule.Schedule, restart bool) (schedule.Schedule, error) {
	if err := c.closeAll(&s.Job.Args); err != nil {
		return schedule.Schedule{}, err
	}
	stored, err := put(ctx, s, restart)
	_ = c.openAll(&stored.Job.Args)
	return stored, err
}

func (c coder) openSchedules(found []schedule.Schedule) {
	for i := range found {
		_ = c.openAll(&found[i].Job.Args)
	}
}

// Tick is part of schedule.Store. Runs have the args of the template as it is stored.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	if _, err := s.codec.Seal(nil, ""); err != nil { // while it fails no run may be made, and no end be counted
		return schedule.Ticked{}, fmt.Errorf("seal: %w", err)
	}
	var failed error
	ticked, err := s.Store.Tick(ctx, limit, func(due schedule.Schedule, v schedule.View) schedule.Plan {
		_ = s.openAll(&due.Job.Args)
		plan, err := s.sealPlan(decide(due, v))
		if err != nil {
			failed = err
			return schedule.Plan{Cursor: due.Cursor, Standing: v.Standing} // it is looked at again
		}
		return plan
	})
	if err == nil {
		err = failed
	}
	return ticked, err
}

// Act is part of schedule.Store.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	return s.Store.Act(ctx, id, func(due schedule.Schedule, v schedule.View) (schedule.Plan, error) {
		_ = s.openAll(&due.Job.Args)
		plan, err := decide(due, v)
		if err != nil {
			return plan, err
		}
		return s.sealPlan(plan)
	})
}

// sealPlan seals what a plan gives to jobs.
func (c coder) sealPlan(plan schedule.Plan) (schedule.Plan, error) {
	for i := range plan.Fires {
		if err := c.closeAll(&plan.Fires[i].Args); err != nil {
			return plan, err
		}
	}
	alerts, err := c.sealJobs(plan.Alerts)
	if len(alerts) > 0 {
		plan.Alerts = alerts
	}
	return plan, err
}
