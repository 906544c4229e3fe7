package seal

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// PutSchedule implements schedule.Store. It returns ErrInvalid if the schedule contains a
// sealed value that this program cannot open.
func (s *Store) PutSchedule(ctx context.Context, put schedule.Schedule, restart bool) (schedule.Schedule, error) {
	return s.putSchedule(ctx, s.Store.PutSchedule, put, restart)
}

// Schedules implements schedule.Store. Values that cannot be opened stay sealed.
func (s *Store) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	found, err := s.Store.Schedules(ctx, filter)
	s.openSchedules(found)
	return found, err
}

func (c coder) putSchedule(ctx context.Context, put func(context.Context, schedule.Schedule, bool) (schedule.Schedule, error), s schedule.Schedule, restart bool) (schedule.Schedule, error) {
	err := errors.Join(c.refuseUnopened(s.Job.Args), c.closeAll(&s.Job.Args))
	if err == nil && s.Alert != nil {
		alert := *s.Alert
		s.Alert, err = &alert, c.closeMessage(messageOfAlert(&alert))
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	stored, err := put(ctx, s, restart)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return stored, errors.Join(c.openAll(&stored.Job.Args), c.openAlert(&stored))
}

func (c coder) openSchedules(found []schedule.Schedule) {
	for i := range found { // shown sealed if it cannot be opened, and rejected by putSchedule
		_, _ = c.openAll(&found[i].Job.Args), c.openAlert(&found[i])
	}
}

func messageOfAlert(alert *schedule.Alert) message {
	return message{url: &alert.URL, secret: &alert.SigningSecret, headers: &alert.Headers, body: &alert.Body}
}

// openAlert replaces the alert of a schedule by an opened copy, as far as it can be opened.
// It copies because the store may retain its own.
func (c coder) openAlert(s *schedule.Schedule) error {
	if s.Alert == nil {
		return nil
	}
	alert := *s.Alert
	s.Alert = &alert
	return c.openMessage(messageOfAlert(&alert))
}

// openDue opens a schedule before a decision about it. It fails if the alert cannot be
// opened, because messages are built from it. Runs get the args of the template in stored
// form: if those cannot be opened, the job of the run waits for a node that has the key,
// like any other job.
func (c coder) openDue(due *schedule.Schedule) error {
	_ = c.openAll(&due.Job.Args)
	if err := c.openAlert(due); err != nil {
		return fmt.Errorf("schedule %q: %w", due.Name, err)
	}
	return nil
}

// Tick implements schedule.Store. It skips a schedule if the schedule's alert cannot be
// opened or its plan cannot be sealed. Another node can then process that schedule. After
// Tick has processed the other schedules, it returns an error.
func (s *Store) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	if _, err := s.codec.Seal(nil, ""); err != nil { // while sealing fails, no run may be created and no end counted
		return schedule.Ticked{}, fmt.Errorf("seal: %w", err)
	}
	var failed error
	ticked, err := s.Store.Tick(ctx, limit, func(due schedule.Schedule, v schedule.View) schedule.Plan {
		err := s.openDue(&due)
		if err == nil {
			var plan schedule.Plan
			if plan, err = s.sealPlan(decide(due, v)); err == nil {
				return plan
			}
		}
		failed = err
		return schedule.Plan{Untouched: true}
	})
	if err == nil {
		err = failed
	}
	return ticked, err
}

// Act implements schedule.Store. It fails if the schedule's alert cannot be opened.
func (s *Store) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	return s.Store.Act(ctx, id, func(due schedule.Schedule, v schedule.View) (schedule.Plan, error) {
		if err := s.openDue(&due); err != nil {
			return schedule.Plan{}, err
		}
		plan, err := decide(due, v)
		if err != nil {
			return plan, err
		}
		return s.sealPlan(plan)
	})
}

// sealPlan seals the args of the jobs in a plan. It returns ErrInvalid if the args are
// larger than allowed: the store cannot check that because it sees only sealed values.
func (c coder) sealPlan(plan schedule.Plan) (schedule.Plan, error) {
	for i := range plan.Fires {
		args := &plan.Fires[i].Args
		if err := errors.Join(fairlead.CheckJSON("args", *args), c.closeAll(args)); err != nil {
			return plan, err
		}
	}
	for _, alert := range plan.Alerts {
		if err := fairlead.CheckJSON("args", alert.Args); err != nil {
			return plan, err
		}
	}
	alerts, err := c.sealJobs(plan.Alerts)
	if len(alerts) > 0 {
		plan.Alerts = alerts
	}
	return plan, err
}
