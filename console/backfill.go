package console

import (
	"errors"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// backfillForm is a schedule, and what a backfill as it was typed would make.
type backfillForm struct {
	*fairleadv1.Schedule
	From, To time.Time                           // of the last day, as long as nothing was typed
	Counted  *fairleadv1.PreviewBackfillResponse // nil: what was typed is no span of it
	Why      string                              // it is not
}

// Count is how many runs would be made, as the form sends it back.
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

// backfillRequest is what the form asks for.
func (v *visit) backfillRequest(id string) (*fairleadv1.BackfillScheduleRequest, error) {
	f := v.fields()
	request := &fairleadv1.BackfillScheduleRequest{Id: id, From: f.time("from"), To: f.time("to"), Serial: f.ticked("serial"), NewestFirst: f.ticked("newest_first"), Again: f.ticked("again")}
	return request, f.err()
}

// backfillSchedule makes the runs that the form counted. Others than those that were counted
// are not made: the form then says how many there are.
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
