package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
)

// Schedules implements the ScheduleService.
type Schedules struct {
	client *schedule.Client
	jobs   *fairlead.Client
	args   ArgsChecks
	try    TryCall
}

// NewSchedules makes the service of a store's schedules.
func NewSchedules(store Store) *Schedules {
	return &Schedules{client: schedule.NewClient(store), jobs: fairlead.NewClient(store)}
}

// find returns the schedule of an id or a name. A name that looks like an id
// counts only if there is no such id.
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
	if err := s.args.checkSchedule(&schedule); err != nil {
		return nil, err
	}
	stored, err := s.client.Put(ctx, schedule)
	if err != nil {
		return nil, err
	}
	return scheduleTo(stored), nil
}

// CreateSchedule stores a schedule.
func (s *Schedules) CreateSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	switch {
	case in.GetVersion() != 0:
		return nil, refuseField("version", "is set by the server; leave it out")
	case in.GetRef() != "":
		return nil, refuseField("ref", "names a schedule that is changed; leave it out")
	}
	return s.put(ctx, scheduleOf(in))
}

// GetSchedule returns a schedule.
func (s *Schedules) GetSchedule(ctx context.Context, in *fairleadv1.GetScheduleRequest) (*fairleadv1.Schedule, error) {
	schedule, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return scheduleTo(schedule), nil
}

// ListSchedules lists schedules by name, or those that fire next.
func (s *Schedules) ListSchedules(ctx context.Context, in *fairleadv1.ListSchedulesRequest) (*fairleadv1.ListSchedulesResponse, error) {
	size := pageSize(in.GetPageSize())
	filter := schedule.Filter{Tenants: in.GetTenant(), Enabled: in.Enabled, After: in.GetPageToken(), Soonest: in.GetSoonest(), Limit: size}
	if !filter.Soonest {
		filter.Limit++ // one more shows whether there is a next page
	}
	schedules, err := s.client.List(ctx, filter)
	if err != nil {
		return nil, err
	}
	schedules, next := page(schedules, size, func(s schedule.Schedule) string { return s.Name })
	return &fairleadv1.ListSchedulesResponse{Items: items(schedules, scheduleTo), NextPageToken: next}, nil
}

// UpdateSchedule replaces a schedule. Without a version it replaces whatever there
// is.
func (s *Schedules) UpdateSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	current, err := s.find(ctx, in.GetRef())
	if err != nil {
		return nil, err
	}
	schedule := scheduleOf(in)
	if in.Name == nil {
		schedule.Name = current.Name
	}
	return s.replace(ctx, current, schedule)
}

// PatchSchedule changes the fields of a schedule that are given.
func (s *Schedules) PatchSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	current, err := s.find(ctx, in.GetRef())
	if err != nil {
		return nil, err
	}
	patched, err := patch(scheduleTo(current), in)
	if err != nil {
		return nil, err
	}
	return s.replace(ctx, current, scheduleOf(patched))
}

func (s *Schedules) replace(ctx context.Context, current, schedule schedule.Schedule) (*fairleadv1.Schedule, error) {
	schedule.ID = current.ID
	if schedule.Version == 0 {
		schedule.Version = current.Version
	}
	return s.put(ctx, schedule)
}

// DeleteSchedule removes a schedule.
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

// EnableSchedule lets a schedule go on.
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

// DisableSchedule stops a schedule.
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
