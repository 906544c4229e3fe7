package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
)

// jobsTo converts jobs to their API form. For runs of schedules it adds the schedule.
func (s *Jobs) jobsTo(ctx context.Context, jobs ...*fairlead.Job) ([]*fairleadv1.Job, error) {
	out := make([]*fairleadv1.Job, len(jobs))
	runs := map[int64]*fairleadv1.Job{}
	var ids []int64
	for i, job := range jobs {
		out[i] = message.Job(job)
		if job.Fired {
			runs[job.ID], ids = out[i], append(ids, job.ID)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	fires, err := s.schedules.Fires(ctx, schedule.FireFilter{Jobs: ids, Limit: len(ids)})
	if err != nil {
		return nil, err
	}
	for _, f := range fires {
		runs[f.Job].ScheduleId, runs[f.Job].Due = f.Schedule, message.Time(f.Due)
	}
	return out, nil
}
