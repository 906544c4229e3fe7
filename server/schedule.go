package server

import (
	"context"
	"errors"
	"strconv"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/schedule"
)

// Schedules implements the ScheduleService.
type Schedules struct {
	client *schedule.Client
	jobs   *fairlead.Client
	args   ArgsChecks
	try    TryCall

	// restore gives a schedule back what its caller was shown as masked; nil: nothing is masked.
	restore func(ctx context.Context, schedule *schedule.Schedule) error
	// permit fails for a schedule that its caller may not save; nil: every caller may.
	permit func(ctx context.Context, schedule *schedule.Schedule) error
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
	if err := s.check(ctx, &schedule); err != nil {
		return nil, err
	}
	stored, err := s.client.Put(ctx, schedule)
	if err != nil {
		return nil, err
	}
	return scheduleTo(stored), nil
}

// check refuses a schedule whose job or alert can never be a call, by what will be stored of it.
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

// created is the schedule that a request creates.
func (s *Schedules) created(in *fairleadv1.Schedule) (schedule.Schedule, error) {
	switch {
	case in.GetVersion() != 0:
		return schedule.Schedule{}, refuseField("version", "is set by the server; omit it")
	case in.GetRef() != "":
		return schedule.Schedule{}, refuseField("ref", "is only for changing a schedule; omit it")
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

// ListSchedules lists schedules by name, or those that fire next.
func (s *Schedules) ListSchedules(ctx context.Context, in *fairleadv1.ListSchedulesRequest) (*fairleadv1.ListSchedulesResponse, error) {
	size := pageSize(in.GetPageSize())
	filter := schedule.Filter{Tenants: in.GetTenant(), Enabled: in.Enabled, After: in.GetPageToken(), Soonest: in.GetSoonest(), Limit: size}
	if !filter.Soonest {
		filter.Limit++ // one more shows whether there is a next page
	}
	bounded, bound := paged.Within(ctx, pageBytes)
	schedules, err := s.client.List(bounded, filter)
	if err != nil {
		return nil, err
	}
	schedules, next := boundedPage(bound, schedules, size, func(s schedule.Schedule) string { return s.Name })
	if filter.Soonest { // their order has no next page to ask for
		next = ""
	}
	return &fairleadv1.ListSchedulesResponse{Items: items(schedules, scheduleTo), NextPageToken: next}, nil
}

// UpdateSchedule replaces a schedule. Without a version it replaces whatever there
// is.
func (s *Schedules) UpdateSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	replaced, err := s.updated(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.put(ctx, replaced)
}

// updated is the schedule that a request replaces another with.
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

// PatchSchedule changes the fields of a schedule that are given.
func (s *Schedules) PatchSchedule(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	changed, err := s.patched(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.put(ctx, changed)
}

// patched is the schedule that a request changes another to.
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

// replacing is a schedule in the place of another. Without a version it replaces whatever
// there is.
func replacing(current, schedule schedule.Schedule) schedule.Schedule {
	schedule.ID = current.ID
	if schedule.Version == 0 {
		schedule.Version = current.Version
	}
	return schedule
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
