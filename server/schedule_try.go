package server

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// TryCall performs a call of the kind http once, for a job that is not stored. It returns a
// snapshot of the call, and whether the call succeeded; see (*httpcall.Handler).Try.
type TryCall func(ctx context.Context, job *fairlead.Job, origin httpcall.Origin) (httpcall.Snapshot, bool, error)

// TestSchedule performs the call of a schedule once. It stores only that the call was made.
func (s *Schedules) TestSchedule(ctx context.Context, in *fairleadv1.TestScheduleRequest) (*fairleadv1.TestScheduleResponse, error) {
	sc, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	switch {
	case sc.Job.Kind != httpcall.Kind:
		return nil, refuseField("id", "is a schedule of kind "+strconv.Quote(sc.Job.Kind)+"; only schedules of kind http can be tested; trigger a run instead")
	case s.try == nil:
		return nil, refuseField("id", "this server makes no HTTP calls; trigger a run instead")
	}
	job := sc.Job
	if len(in.GetArgs()) > 0 {
		if err := unmasked(ctx, s.jobs.Confidential, "args", job.Kind, in.GetArgs()); err != nil {
			return nil, err
		}
		job.Args = in.GetArgs()
	}
	confidential, err := s.jobs.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	job.Attempt = 1
	snapshot, success, err := s.try(ctx, &job, httpcall.Origin{Schedule: sc.Name, Due: time.Now()})
	if err != nil {
		return nil, err
	}
	call, err := json.Marshal(snapshot)
	if err != nil {
		return nil, err
	}
	// The response may repeat the request, so it is masked like the output of a run.
	shown := mask.Show(mask.Fields(confidential, job.Kind, job.Args), mask.Job{Args: job.Args, Output: call})
	return &fairleadv1.TestScheduleResponse{Success: success, Call: shown.Output}, nil
}
