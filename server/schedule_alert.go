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

// checkSchedule refuses schedules whose jobs or alerts can never be calls.
func (c ArgsChecks) checkSchedule(s *schedule.Schedule) error {
	refused := &fairlead.InvalidError{}
	check := func(job *fairlead.Job, prefix string) error {
		known := c[job.Kind]
		if known == nil {
			return nil
		}
		err := known(job.Args)
		var invalid *fairlead.InvalidError
		if err != nil && !errors.As(err, &invalid) {
			return err
		}
		if invalid != nil {
			for _, f := range invalid.Fields {
				refused.Fields = append(refused.Fields, fairlead.FieldError{Field: prefix + strings.TrimPrefix(f.Field, "args"), Message: f.Message})
			}
		}
		return nil
	}
	if err := check(&s.Job, "job.args"); err != nil {
		return err
	}
	if s.Alert != nil {
		if err := check(s.AlertJob(), "alert"); err != nil {
			return err
		}
	}
	if len(refused.Fields) > 0 {
		return refused
	}
	return nil
}
