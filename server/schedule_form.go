package server

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleOf is a schedule as a request has it. What the server sets is left out.
func scheduleOf(in *fairleadv1.Schedule) schedule.Schedule {
	out := schedule.Schedule{
		Name: in.GetName(), Description: in.GetDescription(),
		Cron: in.GetCron(), Every: in.GetEvery().AsDuration(), Delay: in.GetDelay().AsDuration(), Daily: in.GetDaily(), At: timeOf(in.GetAt()),
		Zone: in.GetTimezone(), StartsAt: timeOf(in.GetStartsAt()), EndsAt: timeOf(in.GetEndsAt()), Jitter: in.GetJitter().AsDuration(), Calendar: in.GetCalendar(),
		Job:     *newJobOf(in.GetJob()),
		Overlap: schedule.Overlap(in.GetOverlapAction()), AfterFailure: schedule.AfterFailure(in.GetFailureAction()),
		MaxConcurrency: int(in.GetMaxConcurrency()), Concurrency: schedule.Concurrency(in.GetConcurrencyPolicy()), QueueDepth: int(in.GetQueueDepth()),
		CatchUp: schedule.CatchUp(in.GetCatchUpMode()), CatchUpLimit: int(in.GetCatchUpLimit()), CatchUpWindow: in.GetCatchUpWindow().AsDuration(),
		Disabled: in.Enabled != nil && !in.GetEnabled(), Version: in.GetVersion(), Alert: alertOf(in.GetAlert()),
	}
	if out.Disabled {
		out.Reason = in.GetReason()
	}
	return out
}

// scheduleTo is a schedule as an answer has it.
func scheduleTo(s schedule.Schedule) *fairleadv1.Schedule {
	if s.Broken != "" {
		s.Reason = "what is stored of it " + s.Broken + "; replace or delete it"
	}
	if s.Due.IsZero() {
		s.FireAt = s.Due // it is only searched again then
	}
	return &fairleadv1.Schedule{
		Id: strconv.FormatInt(s.ID, 10), Name: &s.Name, Description: given(s.Description),
		Cron: given(s.Cron), Every: durationTo(s.Every), Delay: durationTo(s.Delay), Daily: given(s.Daily), At: timeTo(s.At),
		Timezone: given(s.Zone), StartsAt: timeTo(s.StartsAt), EndsAt: timeTo(s.EndsAt), Jitter: durationTo(s.Jitter), Calendar: given(s.Calendar),
		Job:           newJobTo(&s.Job),
		OverlapAction: given(string(s.Overlap)), FailureAction: given(string(s.AfterFailure)),
		MaxConcurrency: proto.Int32(int32(s.MaxConcurrency)), ConcurrencyPolicy: given(string(s.Concurrency)), QueueDepth: proto.Int32(int32(s.QueueDepth)),
		CatchUpMode: given(string(s.CatchUp)), CatchUpLimit: proto.Int32(int32(s.CatchUpLimit)), CatchUpWindow: durationTo(s.CatchUpWindow),
		Enabled: new(!s.Disabled), Reason: given(s.Reason), Version: s.Version,
		NextDue: timeTo(s.Due), NextFire: timeTo(s.FireAt), CreatedAt: timeTo(s.CreatedAt), UpdatedAt: timeTo(s.UpdatedAt),
		Alert: alertTo(s.Alert),
	}
}

// given is a text that is left out if it is empty.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// newJobTo is what each run of a schedule is, as a request would have it.
func newJobTo(job *fairlead.Job) *fairleadv1.NewJob {
	return &fairleadv1.NewJob{
		Kind: job.Kind, Args: job.Args, Queue: job.Queue, Tenant: job.Tenant, Priority: int32(job.Priority),
		Timeout: durationTo(job.Timeout), MaxAttempts: int32(job.MaxAttempts), Retry: retryTo(job.Retry),
		Key: job.Key, KeyScope: string(job.KeyScope), OnDuplicate: string(job.OnDuplicate),
		ConcurrencyKey: job.ConcurrencyKey, OnCrash: string(job.OnCrash), Trace: job.Trace,
	}
}

// timings are the fields of which a schedule has one.
var timings = []protoreflect.Name{"cron", "every", "delay", "daily", "at"}

// patch changes those fields of a schedule that a request has.
func patch(schedule, by *fairleadv1.Schedule) (*fairleadv1.Schedule, error) {
	into, from := schedule.ProtoReflect(), by.ProtoReflect()
	fields := into.Descriptor().Fields()
	if err := clearFields(into, by.GetClear(), "a schedule"); err != nil {
		return nil, err
	}
	retimed := false
	for _, name := range timings {
		retimed = retimed || from.Has(fields.ByName(name))
	}
	if retimed {
		for _, name := range timings {
			into.Clear(fields.ByName(name))
		}
	}
	setFields(into, from)
	return schedule, nil
}

// clearFields gives fields of what is patched their defaults.
func clearFields(into protoreflect.Message, names []string, what string) error {
	for _, name := range names {
		field := into.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil {
			return refuseField("clear", strconv.Quote(name)+" is no field of "+what)
		}
		into.Clear(field)
	}
	return nil
}

// setFields sets the fields that are given.
func setFields(into, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		into.Set(field, value)
		return true
	})
}

// runTo is a run as an answer has it.
func runTo(f schedule.Fire) *fairleadv1.Run {
	return &fairleadv1.Run{
		Id: f.Job, ScheduleId: f.Schedule, Due: timeTo(f.Due), Trigger: string(f.Trigger), Number: int32(f.Number),
		SkipReason: string(f.Skip), Queued: f.Queued, State: string(f.State), FinishedAt: timeTo(f.EndedAt),
	}
}
