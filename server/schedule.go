package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Schedules implements the ScheduleService.
type Schedules struct {
	client *schedule.Client
	jobs   *fairlead.Client
	args   ArgsChecks
	try    TryCall

	// restore replaces the masks in a schedule by the stored values; nil = nothing is masked.
	restore func(ctx context.Context, schedule *schedule.Schedule) error
	// permit fails for a schedule that its caller may not save; nil permits every caller.
	permit func(ctx context.Context, schedule *schedule.Schedule) error
}

// NewSchedules returns a ScheduleService backed by store.
func NewSchedules(store Store) *Schedules {
	return &Schedules{client: schedule.NewClient(store), jobs: fairlead.NewClient(store)}
}

// find returns the schedule with an ID or a name. An ID takes precedence over a name that
// looks like an ID.
func (s *Schedules) find(ctx context.Context, ref string) (schedule.Schedule, error) {
	if id, err := strconv.ParseInt(ref, 10, 64); err == nil {
		found, err := s.client.ByID(ctx, id)
		if !errors.Is(err, fairlead.ErrNotFound) {
			return found, err
		}
	}
	return s.client.Get(ctx, ref)
}

func (s *Schedules) put(ctx context.Context, schedule schedule.Schedule) (*fairleadv1.Schedule, error) {
	if err := s.check(ctx, &schedule); err != nil {
		return nil, err
	}
	stored, err := s.client.Put(ctx, schedule)
	if err != nil {
		return nil, err
	}
	return scheduleTo(stored), nil
}

// check rejects a schedule if its job or alert, as it would be stored, can never be a valid
// call.
func (s *Schedules) check(ctx context.Context, schedule *schedule.Schedule) error {
	if s.restore != nil {
		if err := s.restore(ctx, schedule); err != nil {
			return err
		}
	}
	return s.args.checkSchedule(schedule)
}

// CreateSchedule stores a schedule.
func (s *Schedules) CreateSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	made, err := s.created(in)
	if err != nil {
		return nil, err
	}
	return s.put(ctx, made)
}

// created returns the schedule that a request creates.
func (s *Schedules) created(in *fairleadv1.Schedule) (schedule.Schedule, error) {
	switch {
	case in.GetVersion() != 0:
		return schedule.Schedule{}, rest.InvalidField("version", "is set by the server; omit it")
	case in.GetRef() != "":
		return schedule.Schedule{}, rest.InvalidField("ref", "applies only to existing schedules; omit it")
	}
	return scheduleOf(in), nil
}

// GetSchedule returns a schedule.
func (s *Schedules) GetSchedule(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.Schedule, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return scheduleTo(schedule), nil
}

// ListSchedules returns schedules, ordered by name or by next fire.
func (s *Schedules) ListSchedules(ctx context.Context, in *fairleadv1.ListSchedulesRequest) (*fairleadv1.ListSchedulesResponse, error) {
	size := pageSize(in.GetPageSize())
	filter := schedule.Filter{Tenants: in.GetTenant(), Enabled: in.Enabled, After: in.GetPageToken(), Soonest: in.GetSoonest(), Limit: size}
	if !filter.Soonest {
		filter.Limit++ // one more to detect a next page
	}
	bounded, bound := paged.Within(ctx, overload.PageBytes)
	schedules, err := s.client.List(bounded, filter)
	if err != nil {
		return nil, err
	}
	schedules, next := boundedPage(bound, schedules, size, func(s schedule.Schedule) string { return s.Name })
	if filter.Soonest { // this order has only one page
		next = ""
	}
	return &fairleadv1.ListSchedulesResponse{Items: items(schedules, scheduleTo), NextPageToken: next}, nil
}

// UpdateSchedule replaces a schedule. If the request contains no version, it replaces the
// schedule regardless of the stored version.
func (s *Schedules) UpdateSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	replaced, err := s.updated(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.put(ctx, replaced)
}

// updated returns the schedule that a request replaces another with.
func (s *Schedules) updated(ctx context.Context, in *fairleadv1.Schedule) (schedule.Schedule, error) {
	current, err := s.find(ctx, in.GetRef())
	if err != nil {
		return schedule.Schedule{}, err
	}
	replaced := scheduleOf(in)
	if in.Name == nil {
		replaced.Name = current.Name
	}
	return replacing(current, replaced), nil
}

// PatchSchedule changes the schedule fields given in the request.
func (s *Schedules) PatchSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	changed, err := s.patched(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.put(ctx, changed)
}

// patched returns the schedule after the changes of a request.
func (s *Schedules) patched(ctx context.Context, in *fairleadv1.Schedule) (schedule.Schedule, error) {
	current, err := s.find(ctx, in.GetRef())
	if err != nil {
		return schedule.Schedule{}, err
	}
	patched, err := patch(scheduleTo(current), in)
	if err != nil {
		return schedule.Schedule{}, err
	}
	return replacing(current, scheduleOf(patched)), nil
}

// replacing returns a schedule that replaces another. Without a version it replaces any
// version.
func replacing(current, schedule schedule.Schedule) schedule.Schedule {
	schedule.ID = current.ID
	if schedule.Version == 0 {
		schedule.Version = current.Version
	}
	return schedule
}

// DeleteSchedule deletes a schedule.
func (s *Schedules) DeleteSchedule(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.DeleteScheduleResponse, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.client.Delete(ctx, schedule.ID); err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteScheduleResponse{}, nil
}

// EnableSchedule enables a schedule.
func (s *Schedules) EnableSchedule(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.Schedule, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if schedule, err = s.client.Enable(ctx, schedule.ID); err != nil {
		return nil, err
	}
	return scheduleTo(schedule), nil
}

// DisableSchedule disables a schedule.
func (s *Schedules) DisableSchedule(ctx context.Context, in *fairleadv1.DisableScheduleRequest) (*fairleadv1.Schedule, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if schedule, err = s.client.Disable(ctx, schedule.ID, in.GetReason()); err != nil {
		return nil, err
	}
	return scheduleTo(schedule), nil
}
