package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// nameSchedules says of jobs that are runs of a schedule which one made them.
func (s *Jobs) nameSchedules(ctx context.Context, jobs ...*fairleadv1.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	byID := make(map[int64]*fairleadv1.Job, len(jobs))
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		byID[job.GetId()], ids[i] = job, job.GetId()
	}
	fires, err := s.client.Fires(ctx, fairlead.FireFilter{Jobs: ids, Limit: len(ids)})
	if err != nil {
		return err
	}
	for _, f := range fires {
		job := byID[f.Job]
		job.ScheduleId, job.Due = f.Schedule, timeTo(f.Due)
	}
	return nil
}

// runsOf narrows a filter to a page of a schedule's runs.
func (s *Jobs) runsOf(ctx context.Context, schedule int64, filter fairlead.Filter) (fairlead.Page, error) {
	fires, next, err := runPage(ctx, s.client, schedule, filter.Below, pageSize(int32(filter.Limit)))
	if err != nil || len(fires) == 0 {
		return fairlead.Page{}, err
	}
	filter.IDs, filter.Below, filter.Limit = jobsOf(fires), 0, len(fires)
	page, err := s.client.Find(ctx, filter)
	page.Next = next
	return page, err
}
