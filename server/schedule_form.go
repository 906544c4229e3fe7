package server

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// scheduleOf converts a request to a schedule, without the fields that the server sets.
func scheduleOf(in *fairleadv1.Schedule) schedule.Schedule {
	out := schedule.Schedule{
		Name: in.GetName(), Description: in.GetDescription(),
		Cron: in.GetCron(), Every: in.GetEvery().AsDuration(), Delay: in.GetDelay().AsDuration(), Daily: in.GetDaily(), At: message.TimeOf(in.GetAt()),
		Zone: in.GetTimezone(), StartsAt: message.TimeOf(in.GetStartsAt()), EndsAt: message.TimeOf(in.GetEndsAt()), Jitter: in.GetJitter().AsDuration(), Calendar: in.GetCalendar(),
		Job:     *message.NewJobOf(in.GetJob()),
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

// scheduleTo converts a schedule to its API form.
func scheduleTo(s schedule.Schedule) *fairleadv1.Schedule {
	if s.Broken != "" {
		s.Reason = "the stored schedule " + s.Broken + "; replace or delete it"
	}
	if s.Due.IsZero() {
		s.FireAt = s.Due // without a due instant, FireAt is only the time of the next computation
	}
	return &fairleadv1.Schedule{
		Id: strconv.FormatInt(s.ID, 10), Name: &s.Name, Description: given(s.Description),
		Cron: given(s.Cron), Every: message.Duration(s.Every), Delay: message.Duration(s.Delay), Daily: given(s.Daily), At: message.Time(s.At),
		Timezone: given(s.Zone), StartsAt: message.Time(s.StartsAt), EndsAt: message.Time(s.EndsAt), Jitter: message.Duration(s.Jitter), Calendar: given(s.Calendar),
		Job:           message.NewJob(&s.Job),
		OverlapAction: given(string(s.Overlap)), FailureAction: given(string(s.AfterFailure)),
		MaxConcurrency: proto.Int32(int32(s.MaxConcurrency)), ConcurrencyPolicy: given(string(s.Concurrency)), QueueDepth: proto.Int32(int32(s.QueueDepth)),
		CatchUpMode: given(string(s.CatchUp)), CatchUpLimit: proto.Int32(int32(s.CatchUpLimit)), CatchUpWindow: message.Duration(s.CatchUpWindow),
		Enabled: new(!s.Disabled), Reason: given(s.Reason), Version: s.Version,
		NextDue: message.Time(s.Due), NextFire: message.Time(s.FireAt), CreatedAt: message.Time(s.CreatedAt), UpdatedAt: message.Time(s.UpdatedAt),
		Alert: alertTo(s.Alert),
	}
}

// given returns a string, or nil if it is empty.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// timings lists the fields of which a schedule has exactly one.
var timings = []protoreflect.Name{"cron", "every", "delay", "daily", "at"}

// patch changes the fields of a schedule that are set in a request.
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

// clearFields resets fields of a message to their defaults.
func clearFields(into protoreflect.Message, names []string, what string) error {
	for _, name := range names {
		field := into.Descriptor().Fields().ByName(protoreflect.Name(name))
		if field == nil {
			return rest.InvalidField("clear", strconv.Quote(name)+" is not a field of "+what)
		}
		into.Clear(field)
	}
	return nil
}

// setFields copies the fields that are set.
func setFields(into, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		into.Set(field, value)
		return true
	})
}

// runTo converts a run to its API form.
func runTo(f schedule.Fire) *fairleadv1.Run {
	return &fairleadv1.Run{
		Id: f.Job, ScheduleId: f.Schedule, Due: message.Time(f.Due), Trigger: string(f.Trigger), Number: int32(f.Number),
		SkipReason: string(f.Skip), Queued: f.Queued, State: string(f.State), FinishedAt: message.Time(f.EndedAt),
	}
}
