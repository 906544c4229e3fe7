package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// TryCall performs one call of kind http for a job that is not stored. It returns a snapshot
// of the call and reports whether the call succeeded. See (*httpcall.Handler).Try.
type TryCall func(ctx context.Context, job *fairlead.Job, origin httpcall.Origin) (httpcall.Snapshot, bool, error)

// TestSchedule performs a schedule's HTTP call once. It stores nothing but the fact that the
// call was made.
func (s *Schedules) TestSchedule(ctx context.Context, in *fairleadv1.TestScheduleRequest) (*fairleadv1.TestScheduleResponse, error) {
	sc, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.callable("id", "is a schedule of kind ", sc.Job.Kind); err != nil {
		return nil, err
	}
	job := sc.Job
	if len(in.GetArgs()) > 0 {
		if err := scope.RefuseMasked(ctx, s.jobs.Confidential, "args", job.Kind, in.GetArgs()); err != nil {
			return nil, err
		}
		job.Args = in.GetArgs()
	}
	return s.tested(ctx, sc.Name, job)
}

// TestScheduleDraft makes the call of a schedule that is not saved, and stores nothing but
// that it was made. It refuses a job that the caller may not save as a schedule.
func (s *Schedules) TestScheduleDraft(ctx context.Context, in *fairleadv1.Schedule) (*fairleadv1.TestScheduleResponse, error) {
	wanted, err := s.created(in)
	if in.GetRef() != "" {
		wanted, err = s.patched(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	if err := s.callable("job.kind", "is ", wanted.Job.Kind); err != nil {
		return nil, err
	}
	// What else the schedule has may be incomplete as long as it is being written.
	draft := schedule.Schedule{ID: wanted.ID, Version: wanted.Version, Name: cmp.Or(wanted.Name, "test"), Every: time.Hour, Job: wanted.Job}
	err = s.check(ctx, &draft)
	if err == nil {
		err = schedule.Normalize(&draft)
	}
	if err == nil && s.permit != nil {
		err = s.permit(ctx, &draft)
	}
	if err != nil {
		return nil, err
	}
	return s.tested(ctx, draft.Name, draft.Job)
}

// callable returns an error for a field if jobs of a kind are no calls, or if this server
// makes none.
func (s *Schedules) callable(field, is, kind string) error {
	switch {
	case kind != httpcall.Kind:
		return rest.InvalidField(field, is+strconv.Quote(kind)+"; only jobs of kind http can be tested; trigger a run instead")
	case s.try == nil:
		return rest.InvalidField(field, "this server makes no HTTP calls; trigger a run instead")
	}
	return nil
}

// tested makes the call of a job once.
func (s *Schedules) tested(ctx context.Context, name string, job fairlead.Job) (*fairleadv1.TestScheduleResponse, error) {
	confidential, err := s.jobs.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	job.Attempt = 1
	snapshot, success, err := s.try(ctx, &job, httpcall.Origin{Schedule: name, Due: time.Now()})
	fields := mask.Fields(confidential, job.Kind, job.Args)
	if err != nil {
		return nil, maskError(err, mask.Secrets(fields, mask.Job{Args: job.Args}))
	}
	call, err := json.Marshal(snapshot)
	if err != nil {
		return nil, err
	}
	// The response may repeat the request, so it is masked like the output of a run.
	shown := mask.Show(fields, mask.Job{Args: job.Args, Output: call})
	return &fairleadv1.TestScheduleResponse{Success: success, Call: shown.Output}, nil
}

// maskedError is an error with the confidential values in its text masked.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error inside.
func (e *maskedError) Unwrap() error { return e.err }

// maskError masks confidential values in an error.
func maskError(err error, secrets mask.Values) error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		if text := secrets.Text(err.Error()); text != err.Error() {
			return &maskedError{text, err}
		}
		return err
	}
	masked := &fairlead.InvalidError{Fields: slices.Clone(invalid.Fields)}
	for i := range masked.Fields {
		masked.Fields[i].Message = secrets.Text(masked.Fields[i].Message)
	}
	return masked
}
