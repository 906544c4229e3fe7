package console

import (
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var scheduleEdits = []action{
	{name: "schedule-form", path: "/new/schedule", Title: "New schedule", Button: "Save", Nav: "schedules", method: "CreateSchedule", load: loadScheduleForm, do: createSchedule, test: scheduleDraft},
	{name: "schedule-form", path: "/schedules/{id}/edit", Title: "Edit schedule", Button: "Save", Nav: "schedules", method: "UpdateSchedule", load: loadScheduleForm, do: updateSchedule, whatIf: scheduleWhatIf, test: scheduleDraft},
}

func createSchedule(v *visit) (done, error) {
	wanted, err := v.typedSchedule(newSchedule(v))
	if err != nil {
		return done{}, err
	}
	made, err := v.schedules.CreateSchedule(v.ctx, wanted)
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Schedule %s was saved.", made.GetName()), To: "/schedules/" + made.GetId()}, nil
}

// changedSchedule returns the stored schedule with the changes of the form. Values that the
// form does not show stay unchanged, and so do masked values, which the API restores.
func (v *visit) changedSchedule() (*fairleadv1.Schedule, error) {
	current, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return nil, err
	}
	wanted, err := v.typedSchedule(current)
	if err != nil {
		return nil, err
	}
	f := v.fields()
	wanted.Ref, wanted.Version = current.GetId(), f.number("version")
	return wanted, f.err()
}

// scheduleWhatIf returns the change that would be saved.
func scheduleWhatIf(v *visit) (*fairleadv1.WhatIfChange, error) {
	wanted, err := v.changedSchedule()
	return &fairleadv1.WhatIfChange{Schedule: wanted}, err
}

func updateSchedule(v *visit) (done, error) {
	wanted, err := v.changedSchedule()
	if err != nil {
		return done{}, err
	}
	stored, err := v.schedules.UpdateSchedule(v.ctx, wanted)
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.T("Schedule %s was saved.", stored.GetName()), To: "/schedules/" + stored.GetId()}, nil
}

// typedSchedule returns a schedule with the input of its form. A field that was not edited
// retains the stored value with full precision, including parts that are not shown.
func (v *visit) typedSchedule(base *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	s := proto.CloneOf(base)
	f := &scheduleFields{parameters: v.fields(), stored: base.GetId() != ""}
	f.set("name", func(name string) { s.Name = new(f.text(name)) })
	f.set("description", func(name string) { s.Description = new(f.text(name)) })
	f.when(s)
	f.policies(s)
	f.job(s.GetJob())
	f.alert(s)
	if !f.stored {
		s.Enabled = new(f.ticked("enabled"))
	}
	return s, f.err()
}

// scheduleFields reads the form of a schedule.
type scheduleFields struct {
	*parameters
	stored bool // whether the form shows a stored schedule, as opposed to a new one
}

// set reads a field if it was edited.
func (f *scheduleFields) set(name string, read func(name string)) {
	if !f.stored || f.edited(name) {
		read(name)
	}
}

// when reads the timing fields.
func (f *scheduleFields) when(s *fairleadv1.Schedule) {
	f.timing(s)
	f.set("timezone", func(name string) { s.Timezone = new(f.text(name)) })
	f.set("calendar", func(name string) { s.Calendar = new(f.text(name)) })
	f.set("jitter", func(name string) { s.Jitter = f.span(name) })
	f.set("starts_at", func(name string) { s.StartsAt = f.time(name) })
	f.set("ends_at", func(name string) { s.EndsAt = f.time(name) })
}

// timing reads the selected type of timing, and ignores the fields of other types.
func (f *scheduleFields) timing(s *fairleadv1.Schedule) {
	way := f.choice("way", timingWays...)
	if f.stored && way == wayOf(s) && !f.edited(way) {
		return
	}
	s.Cron, s.Daily, s.Every, s.Delay, s.At = nil, nil, nil, nil, nil
	if f.text(way) == "" {
		f.refuse(way, f.v.T("is missing; specify when the schedule fires"))
	}
	switch way {
	case "cron":
		s.Cron = new(f.text(way))
	case "daily":
		s.Daily = new(f.text(way))
	case "every":
		s.Every = f.span(way)
	case "delay":
		s.Delay = f.span(way)
	default:
		s.At = f.time(way)
	}
}

// policies reads the handling of overlapping, failed and missed runs.
func (f *scheduleFields) policies(s *fairleadv1.Schedule) {
	f.set("overlap_action", func(name string) { s.OverlapAction = new(f.text(name)) })
	f.set("failure_action", func(name string) { s.FailureAction = new(f.text(name)) })
	f.set("max_concurrency", func(name string) { s.MaxConcurrency = new(f.integer(name)) })
	f.set("concurrency_policy", func(name string) { s.ConcurrencyPolicy = new(f.text(name)) })
	f.set("queue_depth", func(name string) { s.QueueDepth = new(f.integer(name)) })
	f.set("catch_up_mode", func(name string) { s.CatchUpMode = new(f.text(name)) })
	f.set("catch_up_limit", func(name string) { s.CatchUpLimit = new(f.integer(name)) })
	f.set("catch_up_window", func(name string) { s.CatchUpWindow = f.span(name) })
}
