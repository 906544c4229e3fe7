package console

import (
	"errors"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// backfillForm contains a schedule and the effect of a backfill with the current input.
type backfillForm struct {
	*fairleadv1.Schedule
	From, To time.Time                           // the last day by default
	Counted  *fairleadv1.PreviewBackfillResponse // nil = the input is not a valid period
	Why      string                              // reason for the invalid period
}

// Count returns the number of runs that would be created, which the form sends back.
func (f *backfillForm) Count() int32 { return f.Counted.GetRuns() }

func loadBackfill(v *visit) (any, error) {
	s, err := v.schedules.GetSchedule(v.ctx, &fairleadv1.GetScheduleRequest{Id: v.Value("id")})
	if err != nil {
		return nil, err
	}
	today := v.Now.In(v.Zone).Truncate(time.Minute)
	form := &backfillForm{Schedule: s, From: today.AddDate(0, 0, -1), To: today}
	request := &fairleadv1.BackfillScheduleRequest{Id: s.GetId(), From: timestamppb.New(form.From), To: timestamppb.New(form.To)}
	if v.posted != nil {
		if request, err = v.backfillRequest(s.GetId()); err != nil {
			form.Why = err.Error()
			return form, nil
		}
	}
	form.Counted, err = v.schedules.PreviewBackfill(v.ctx, request)
	if connect.CodeOf(err) == connect.CodeInvalidArgument {
		_, form.Why = v.refusal(err)
		return form, nil
	}
	return form, err
}

// backfillRequest returns the request for the current input.
func (v *visit) backfillRequest(id string) (*fairleadv1.BackfillScheduleRequest, error) {
	f := v.fields()
	request := &fairleadv1.BackfillScheduleRequest{Id: id, From: f.time("from"), To: f.time("to"), Serial: f.ticked("serial"), NewestFirst: f.ticked("newest_first"), Again: f.ticked("again")}
	return request, f.err()
}

// backfillSchedule creates the runs that the form counted. If their number has changed, it
// creates none, and the form shows the new number.
func backfillSchedule(v *visit) (done, error) {
	request, err := v.backfillRequest(v.Value("id"))
	if err != nil {
		return done{}, err
	}
	counted, err := v.schedules.PreviewBackfill(v.ctx, &fairleadv1.BackfillScheduleRequest{Id: request.GetId(), From: request.GetFrom(), To: request.GetTo(), Again: request.GetAgain()})
	if err != nil {
		return done{}, err
	}
	if seen := v.posted.Get("counted"); seen != text(counted.GetRuns()) {
		return done{}, connect.NewError(connect.CodeFailedPrecondition, errors.New(v.T("Check the number of runs to create, then submit again.")))
	}
	made, err := v.schedules.BackfillSchedule(v.ctx, request)
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.N(len(made.GetItems()), "%s run was created.", "%s runs were created.")}, nil
}
