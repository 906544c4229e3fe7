package scope

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// schedule returns ErrNotFound for a schedule with jobs of another tenant.
func (s Restricted) schedule(ctx context.Context, id int64) error {
	return visible(ctx, "schedule", id, s.Schedules, schedule.Filter{IDs: []int64{id}})
}

// PutSchedule creates or replaces a schedule for a tenant of the caller.
func (s Restricted) PutSchedule(ctx context.Context, sc schedule.Schedule, restart bool) (schedule.Schedule, error) {
	if err := s.CheckSchedule(ctx, &sc); err != nil {
		return schedule.Schedule{}, err
	}
	stored, err := s.store.PutSchedule(ctx, sc, restart)
	return stored, unnamed(ctx, "schedule", sc.Name, err, func() (bool, error) { return s.seesSchedule(ctx, sc) })
}

// CheckSchedule returns an error for a schedule that the caller may not store, and restores
// the masked values of its job.
func (s Restricted) CheckSchedule(ctx context.Context, sc *schedule.Schedule) error {
	if !sc.Disabled || sc.Version == 0 { // older ones can still be disabled
		if err := CheckUnreserved("job.", &sc.Job); err != nil {
			return err
		}
	}
	if err := ownJobs(ctx, []*fairlead.Job{&sc.Job}); err != nil {
		return err
	}
	if sc.Version != 0 {
		if err := s.schedule(ctx, sc.ID); err != nil {
			return err
		}
	}
	if err := nameable(ctx, "schedule", sc.Name); err != nil {
		return err
	}
	return s.RestoreSchedule(ctx, sc)
}

// DeleteSchedule deletes a schedule of the caller.
func (s Restricted) DeleteSchedule(ctx context.Context, id int64) error {
	if err := s.schedule(ctx, id); err != nil {
		return err
	}
	return s.store.DeleteSchedule(ctx, id)
}

// Schedules returns the schedules of the caller. The list of the soonest schedules covers
// all tenants, so callers bound to tenants may not request it.
func (s Restricted) Schedules(ctx context.Context, filter schedule.Filter) ([]schedule.Schedule, error) {
	if filter.Soonest {
		if err := RequireUnrestricted(ctx); err != nil {
			return nil, err
		}
	}
	if !narrow(ctx, &filter.Tenants) {
		return nil, nil
	}
	return s.store.Schedules(ctx, filter)
}

// Tick starts due runs. It is only for nodes and other callers that are not bound to
// tenants.
func (s Restricted) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return schedule.Ticked{}, err
	}
	return s.store.Tick(ctx, limit, decide)
}

// Act acts on a schedule of the caller.
func (s Restricted) Act(ctx context.Context, id int64, decide func(schedule.Schedule, schedule.View) (schedule.Plan, error)) ([]schedule.Fire, error) {
	if err := s.schedule(ctx, id); err != nil {
		return nil, err
	}
	return s.store.Act(ctx, id, decide)
}

// Fires returns runs. Callers bound to tenants may request the runs of one of their
// schedules, or of their jobs.
func (s Restricted) Fires(ctx context.Context, filter schedule.FireFilter) ([]schedule.Fire, error) {
	if !caller.Of(ctx).Identity.Restricted() {
		return s.store.Fires(ctx, filter)
	}
	switch {
	case filter.Schedule != 0:
		if err := s.schedule(ctx, filter.Schedule); err != nil {
			return nil, err
		}
	case len(filter.Jobs) > 0:
		own, err := s.Find(ctx, fairlead.Filter{IDs: filter.Jobs, Limit: len(filter.Jobs)})
		if err != nil || len(own) == 0 {
			return nil, err
		}
		filter.Jobs = nil
		for _, job := range own {
			filter.Jobs = append(filter.Jobs, job.ID)
		}
	default:
		return nil, caller.ErrForbidden
	}
	return s.store.Fires(ctx, filter)
}

// PutCalendar creates or replaces a calendar.
func (s Restricted) PutCalendar(ctx context.Context, calendar schedule.Calendar) (schedule.Calendar, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return schedule.Calendar{}, err
	}
	return s.store.PutCalendar(ctx, calendar)
}

// DeleteCalendar deletes a calendar.
func (s Restricted) DeleteCalendar(ctx context.Context, name string) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.DeleteCalendar(ctx, name)
}

// Calendars returns all calendars, because schedules of any tenant may use them.
func (s Restricted) Calendars(ctx context.Context) ([]schedule.Calendar, error) {
	return s.store.Calendars(ctx)
}
