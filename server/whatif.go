package server

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// WhatIfs implements the WhatIfService.
type WhatIfs struct {
	store     scope.Restricted
	jobs      *fairlead.Client
	schedules *Schedules
	calendars *Calendars
}

// whatIfs returns the service, based on the services that store the changes in question.
func whatIfs(store scope.Restricted, schedules *Schedules, calendars *Calendars) *WhatIfs {
	return &WhatIfs{store: store, jobs: fairlead.NewClient(store), schedules: schedules, calendars: calendars}
}

// WhatIf compares the current outcome with the outcome after hypothetical changes, without
// applying the changes.
func (s *WhatIfs) WhatIf(ctx context.Context, in *fairleadv1.WhatIfRequest) (*fairleadv1.WhatIfResponse, error) {
	q := question{
		rules: fairlead.WhatIf{Slots: int(in.GetSlots())}, instants: schedule.WhatIf{Instants: int(in.GetInstants())}, of: len(in.GetChanges()),
	}
	for i, change := range in.GetChanges() {
		if err := s.read(ctx, &q, i, change); err != nil {
			return nil, fairlead.InChange(i, q.of, err)
		}
	}
	out := &fairleadv1.WhatIfResponse{}
	if len(q.rules.Changes) > 0 || q.of == 0 {
		forecast, err := s.jobs.WhatIf(ctx, q.rules)
		if err != nil {
			return nil, q.placed(err, q.rulePlaces)
		}
		addForecast(out, forecast)
	}
	if len(q.instants.Changes) > 0 {
		forecast, err := s.schedules.client.WhatIf(ctx, q.instants)
		if err != nil {
			return nil, q.placed(err, q.instantPlaces)
		}
		addInstants(out, forecast)
	}
	return out, nil
}

// question is a request, split by the part that answers it.
type question struct {
	of            int // total number of changes
	rules         fairlead.WhatIf
	rulePlaces    []int // positions of the changes in rules among all changes
	instants      schedule.WhatIf
	instantPlaces []int
}

// read adds a change to the question, with the same interpretation as the method that
// stores it.
func (s *WhatIfs) read(ctx context.Context, q *question, place int, in *fairleadv1.WhatIfChange) error {
	given := 0
	for _, there := range []bool{in.GetLimit() != nil, in.GetTenant() != nil, in.GetSchedule() != nil, in.GetSchedulePatch() != nil, in.GetCalendar() != nil} {
		if there {
			given++
		}
	}
	if given != 1 {
		return rest.InvalidField("change", "must contain exactly one of limit, tenant, schedule, schedule_patch and calendar")
	}
	if in.GetLimit() != nil || in.GetTenant() != nil {
		change, err := s.rule(ctx, in)
		q.rules.Changes, q.rulePlaces = append(q.rules.Changes, change), append(q.rulePlaces, place)
		return err
	}
	change, err := s.instant(ctx, in)
	q.instants.Changes, q.instantPlaces = append(q.instants.Changes, change), append(q.instantPlaces, place)
	return err
}

func (s *WhatIfs) rule(ctx context.Context, in *fairleadv1.WhatIfChange) (change fairlead.RuleChange, err error) {
	if in.GetLimit() != nil {
		limit, err := limitOf(in.GetLimit())
		return fairlead.RuleChange{Limit: &limit}, err
	}
	tenant := tenantOf(in.GetTenant())
	if tenant.Version == 0 {
		current, err := s.jobs.Tenant(ctx, tenant.Name)
		if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			return change, err
		}
		tenant.Version = current.Version
	}
	return fairlead.RuleChange{Tenant: &tenant}, nil
}

func (s *WhatIfs) instant(ctx context.Context, in *fairleadv1.WhatIfChange) (change schedule.Change, err error) {
	if in.GetCalendar() == nil {
		sc, err := s.schedule(ctx, in)
		return schedule.Change{Schedule: &sc}, err
	}
	if err := scope.RequireUnrestricted(ctx); err != nil {
		return change, err
	}
	calendar := calendarOf(in.GetCalendar())
	if calendar.Version == 0 {
		current, err := s.calendars.find(ctx, calendar.Name)
		if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			return change, err
		}
		calendar.Version = current.Version
	}
	return schedule.Change{Calendar: &calendar}, nil
}

func (s *WhatIfs) schedule(ctx context.Context, in *fairleadv1.WhatIfChange) (sc schedule.Schedule, err error) {
	switch {
	case in.GetSchedulePatch() != nil:
		sc, err = s.schedules.patched(ctx, in.GetSchedulePatch())
	case in.GetSchedule().GetRef() != "":
		sc, err = s.schedules.updated(ctx, in.GetSchedule())
	default:
		sc, err = s.schedules.created(in.GetSchedule())
	}
	if err == nil {
		err = s.schedules.check(ctx, &sc)
	}
	if err == nil {
		err = schedule.Normalize(&sc) // it fills in the tenant of the job
	}
	if err == nil {
		err = s.store.CheckSchedule(ctx, &sc)
	}
	return sc, err
}

// placed adjusts the field names in an error to the positions among all changes.
func (q *question) placed(err error, places []int) error {
	if len(places) == q.of {
		return err
	}
	if len(places) == 1 {
		return fairlead.InChange(places[0], q.of, err)
	}
	return fairlead.MoveChanges(places, err)
}

// addForecast adds the jobs that would start.
func addForecast(out *fairleadv1.WhatIfResponse, f fairlead.Forecast) {
	out.At, out.Slots, out.Idle = message.Time(f.At), int32(f.Slots), int32(f.Idle)
	out.Before, out.After = items(f.Before.Starts, startTo), items(f.After.Starts, startTo)
	out.TokenBefore, out.TokenAfter = message.Time(f.Before.Token), message.Time(f.After.Token)
	out.Waits, out.Later, out.Sooner, out.Text = items(f.Waits, waitTo), int32(f.Later), int32(f.Sooner), f.Text
	out.Steady = items(f.Steady, steadyTo)
}

func steadyTo(s fairlead.SteadyState) *fairleadv1.SteadyState {
	return &fairleadv1.SteadyState{
		Scope: scopeTo(s.Scope, s.Name), Window: message.Duration(s.Window), Arrivals: s.Arrivals, More: s.More, Sample: int32(s.Sample), Attempts: s.Attempts,
		Duration: message.Duration(s.Duration), Running: s.Running, Before: s.Before, After: s.After,
	}
}

func startTo(s fairlead.ForecastStart) *fairleadv1.ForecastStart {
	return &fairleadv1.ForecastStart{Job: s.Job, Queue: s.Queue, Tenant: s.Tenant, Kind: s.Kind, Priority: int32(s.Priority), StartBy: message.Time(s.StartBy)}
}

func waitTo(w fairlead.ForecastWait) *fairleadv1.ForecastWait {
	return &fairleadv1.ForecastWait{
		Queue: w.Queue, Tenant: w.Tenant, Kind: w.Kind, Effect: string(w.Effect),
		StartsBefore: int32(w.Before.Starts), StartsAfter: int32(w.After.Starts), FirstBefore: int32(w.Before.First), FirstAfter: int32(w.After.First),
		HeldBefore: items(w.Before.Held, obstacleTo), HeldAfter: items(w.After.Held, obstacleTo),
	}
}

// addInstants adds the outcome of schedule instants.
func addInstants(out *fairleadv1.WhatIfResponse, f schedule.Forecast) {
	out.At, out.MoreSchedules = message.Time(f.At), f.More
	for _, s := range f.Schedules {
		out.Schedules = append(out.Schedules, &fairleadv1.ForecastSchedule{
			Id: s.ID, Name: s.Name, Tenant: s.Tenant, Moved: int32(s.Moved), Broken: s.Broken, Instants: items(s.Instants, instantTo),
		})
		out.Text = append(out.Text, s.Text...)
	}
}

func instantTo(i schedule.InstantForecast) *fairleadv1.ForecastInstant {
	return &fairleadv1.ForecastInstant{Due: message.Time(i.Due), Effect: string(i.Effect), Before: prospectTo(i.Before), After: prospectTo(i.After)}
}

func prospectTo(p *schedule.Prospect) *fairleadv1.Prospect {
	if p == nil {
		return nil
	}
	return &fairleadv1.Prospect{Fire: message.Time(p.FireAt), Trigger: string(p.Trigger), Skip: string(p.Skip), Queued: p.Queued, Cancels: int32(p.Cancels), Text: p.Words()}
}
