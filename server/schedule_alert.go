package server

import (
	"errors"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
)

func alertOf(in *fairleadv1.Alert) *schedule.Alert {
	if in == nil {
		return nil
	}
	out := &schedule.Alert{
		URL: in.GetUrl(), Failures: int(in.GetFailures()), Quiet: in.GetQuiet().AsDuration(),
		Headers: in.GetHeaders(), Body: in.GetBody(), SigningSecret: in.GetSigningSecret(),
	}
	for _, event := range in.GetOn() {
		out.On = append(out.On, schedule.AlertEvent(event))
	}
	return out
}

func alertTo(a *schedule.Alert) *fairleadv1.Alert {
	if a == nil {
		return nil
	}
	out := &fairleadv1.Alert{
		Url: a.URL, Failures: int32(a.Failures), Quiet: message.Duration(a.Quiet), Headers: a.Headers, Body: a.Body, SigningSecret: a.SigningSecret,
	}
	for _, event := range a.On {
		out.On = append(out.On, string(event))
	}
	return out
}

// checkSchedule rejects schedules whose jobs or alerts can never be valid calls.
func (c ArgsChecks) checkSchedule(s *schedule.Schedule) error {
	fields, err := c.refused(&s.Job, "job.args")
	if err == nil && s.Alert != nil {
		var more []fairlead.FieldError
		more, err = c.refused(s.AlertJob(), "alert")
		fields = append(fields, more...)
	}
	if err != nil {
		return err
	}
	return fairlead.Invalid(fields...)
}

// refused returns the invalid fields of a job that can never be a valid call, named as
// parts of the object that the job is created from.
func (c ArgsChecks) refused(job *fairlead.Job, prefix string) ([]fairlead.FieldError, error) {
	known := c[job.Kind]
	if known == nil {
		return nil, nil
	}
	err := known(job.Args)
	var invalid *fairlead.InvalidError
	if err == nil || !errors.As(err, &invalid) {
		return nil, err
	}
	var fields []fairlead.FieldError
	for _, f := range invalid.Fields {
		field := strings.TrimPrefix(prefix+strings.TrimPrefix(f.Field, "args"), ".")
		fields = append(fields, fairlead.FieldError{Field: field, Message: f.Message})
	}
	return fields, nil
}
