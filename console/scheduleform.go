package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// timingWays lists the types of timing. Only the fields of the selected type are read.
var timingWays = []string{"daily", "cron", "every", "delay", "at"}

// scheduleForm is a schedule to edit, or a new one.
type scheduleForm struct {
	*fairleadv1.Schedule
	Way       string // one of timingWays
	Call      bool   // whether its jobs are calls that the call fields can represent
	Fields    callFields
	Kinds     []string // known kinds to choose from
	Calendars []option
	Preview   *firesPreview
}

// IsNew reports whether the schedule is not stored yet.
func (f *scheduleForm) IsNew() bool { return f.GetId() == "" }

// newSchedule returns the initial values of a new schedule.
func newSchedule(v *visit) *fairleadv1.Schedule {
	return &fairleadv1.Schedule{
		Timezone: new(v.Zone.String()), Enabled: new(true), OverlapAction: new("allow"), FailureAction: new("run_new"), ConcurrencyPolicy: new("queue"), CatchUpMode: new("none"),
		Daily: new("03:00"), Job: &fairleadv1.NewJob{Kind: httpKind, Queue: "default", Tenant: "default"},
	}
}

// wayOf returns the type of timing of a schedule.
func wayOf(s *fairleadv1.Schedule) string {
	switch {
	case s.GetCron() != "":
		return "cron"
	case s.GetEvery() != nil:
		return "every"
	case s.GetDelay() != nil:
		return "delay"
	case s.GetAt() != nil:
		return "at"
	}
	return "daily"
}

// editedSchedule returns the schedule of the form, or the initial values of a new one.
func (v *visit) editedSchedule() (*fairleadv1.Schedule, error) {
	if id := v.Value("id"); id != "" {
		return v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: id})
	}
	return newSchedule(v), nil
}

func loadScheduleForm(v *visit) (any, error) {
	s, err := v.editedSchedule()
	if err != nil {
		return nil, err
	}
	form := &scheduleForm{Schedule: s, Way: wayOf(s)}
	form.Fields, form.Call = callFieldsOf(s.GetJob())
	calendars, err := v.calendars.ListCalendars(v.ctx, &fairleadv1.ListCalendarsRequest{})
	if err != nil {
		return nil, err
	}
	form.Calendars = []option{{"", v.T("none")}}
	for _, calendar := range calendars.GetItems() {
		form.Calendars = append(form.Calendars, option{calendar.GetName(), calendar.GetName()})
	}
	if v.Unbound() { // other viewers may not list kinds
		kinds, err := v.kinds.ListKinds(v.ctx, &fairleadv1.ListKindsRequest{})
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds.GetItems() {
			form.Kinds = append(form.Kinds, kind.GetName())
		}
	}
	shown, err := loadFiresPreview(v)
	form.Preview, _ = shown.(*firesPreview)
	if err != nil {
		_, why := v.refusal(err)
		form.Preview = &firesPreview{Why: why}
	}
	return form, nil
}

// ScheduleFields returns the values of a schedule for its form.
func (v *visit) ScheduleFields(f *scheduleForm) map[string]any {
	s, job := f.Schedule, f.GetJob()
	return map[string]any{
		"name": s.GetName(), "description": s.GetDescription(),
		"cron": s.GetCron(), "daily": s.GetDaily(), "every": v.Span(s.GetEvery()), "delay": v.Span(s.GetDelay()), "at": v.FieldTime(s.GetAt()),
		"timezone": s.GetTimezone(), "calendar": s.GetCalendar(), "jitter": v.Span(s.GetJitter()), "starts_at": v.FieldTime(s.GetStartsAt()), "ends_at": v.FieldTime(s.GetEndsAt()),
		"overlap_action": s.GetOverlapAction(), "failure_action": s.GetFailureAction(), "concurrency_policy": s.GetConcurrencyPolicy(), "catch_up_mode": s.GetCatchUpMode(),
		"max_concurrency": orEmpty(s.GetMaxConcurrency()), "queue_depth": orEmpty(s.GetQueueDepth()), "catch_up_limit": orEmpty(s.GetCatchUpLimit()), "catch_up_window": v.Span(s.GetCatchUpWindow()),
		"kind": job.GetKind(), "args": v.Editable(job.GetArgs()), "tenant": job.GetTenant(), "queue": job.GetQueue(), "priority": orEmpty(job.GetPriority()),
		"timeout": v.Span(job.GetTimeout()), "max_attempts": orEmpty(job.GetMaxAttempts()), "key": job.GetKey(), "concurrency_key": job.GetConcurrencyKey(), "on_crash": job.GetOnCrash(), "on_fail": job.GetOnFail(),
		"retry_base": v.Span(job.GetRetry().GetBase()), "retry_max": v.Span(job.GetRetry().GetMax()), "retry_factor": orEmpty(job.GetRetry().GetFactor()),
	}
}

// PolicyOptions returns the choices of a policy with their meanings.
func (v *visit) PolicyOptions(policy string, values ...string) (options []option) {
	for _, value := range values {
		options = append(options, option{value, v.T(policyWords[policy+":"+value])})
	}
	return options
}

// CrashOptions returns the choices for a job whose node dies.
func (v *visit) CrashOptions() []option {
	return []option{{"", v.T("handler default")}, {"revive", v.T("run again")}, {"cancel", v.T("cancel")}}
}

// FailOptions returns the choices for a job that has failed for good.
func (v *visit) FailOptions() []option {
	return []option{{"", v.T("keep")}, {"remove", v.T("remove")}}
}

// MethodOptions returns the methods of HTTP calls.
func (v *visit) MethodOptions() (options []option) {
	for _, method := range []string{"POST", "GET", "PUT", "PATCH", "DELETE", "HEAD"} {
		options = append(options, option{method, method})
	}
	return options
}

// OrEmpty returns a number for display in a field: empty for 0.
func (v *visit) OrEmpty(n int32) any { return orEmpty(n) }

// Zones returns time zones to choose from. Users can type any other.
func (v *visit) Zones() []string {
	return []string{
		"UTC", "Europe/London", "Europe/Paris", "Europe/Berlin", "Europe/Moscow", "Africa/Cairo", "Africa/Johannesburg", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Asia/Singapore", "Asia/Tokyo",
		"Australia/Sydney", "America/Sao_Paulo", "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles",
	}
}
