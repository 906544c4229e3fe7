package tasks

import (
	"context"
	"fmt"
	"strconv"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/schedule"
)

// Runs implements TaskRunService.
type Runs struct {
	client    *fairlead.Client
	schedules *schedule.Client
}

// GetTaskRun returns a task's run, even if the task has been deleted.
func (r *Runs) GetTaskRun(ctx context.Context, in *fairleadv1.GetTaskRunRequest) (*fairleadv1.TaskRun, error) {
	fires, err := r.schedules.Fires(ctx, schedule.FireFilter{Jobs: []int64{in.GetId()}})
	if err != nil {
		return nil, err
	}
	if len(fires) == 0 {
		return nil, noRun(in.GetId())
	}
	return r.run(ctx, fires[0])
}

func noRun(id int64) error { return fmt.Errorf("run %d: %w", id, fairlead.ErrNotFound) }

// run reads the job of a run.
func (r *Runs) run(ctx context.Context, fire schedule.Fire) (*fairleadv1.TaskRun, error) {
	job, err := r.client.Get(ctx, fire.Job)
	if err != nil {
		return nil, err
	}
	if job.Kind != httpcall.Kind {
		return nil, noRun(job.ID)
	}
	all, err := r.client.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	return runOf(all, fire, job), nil
}

// CancelTaskRun cancels a task's run. If the run has started, CancelTaskRun requests that it
// stop.
func (r *Runs) CancelTaskRun(ctx context.Context, in *fairleadv1.CancelTaskRunRequest) (*fairleadv1.TaskRun, error) {
	about := &fairleadv1.GetTaskRunRequest{Id: in.GetId()}
	if _, err := r.GetTaskRun(ctx, about); err != nil {
		return nil, err // jobs that are not task runs are cancelled elsewhere
	}
	if err := r.client.Cancel(ctx, in.GetId(), in.GetReason()); err != nil {
		return nil, err
	}
	return r.GetTaskRun(ctx, about)
}

// list lists the runs of a schedule, newest first.
func (r *Runs) list(ctx context.Context, s int64, token string, size int) (*fairleadv1.ListTaskRunsResponse, error) {
	if size == 0 {
		size = fairlead.DefaultPage
	}
	filter := schedule.FireFilter{Schedule: s, Limit: size + 1} // one more shows whether there is a next page
	if token != "" {
		below, err := strconv.ParseInt(token, 10, 64)
		if err != nil || below <= 0 {
			var c complaints
			c.refuse("page_token", "is not a valid page token; omit it to get the first page")
			return nil, c.err()
		}
		filter.Below = below
	}
	fires, err := r.schedules.Fires(ctx, filter)
	if err != nil {
		return nil, err
	}
	out := &fairleadv1.ListTaskRunsResponse{}
	if len(fires) > size {
		fires = fires[:size]
		out.NextPageToken = strconv.FormatInt(fires[size-1].Job, 10)
	}
	jobs, err := r.jobs(ctx, fires)
	if err != nil {
		return nil, err
	}
	all, err := r.client.Confidential(ctx)
	if err != nil {
		return nil, err
	}
	for _, fire := range fires {
		if job := jobs[fire.Job]; job != nil { // otherwise it was removed meanwhile
			out.Items = append(out.Items, runOf(all, fire, job))
		}
	}
	return out, nil
}

// jobs returns the jobs of runs by ID.
func (r *Runs) jobs(ctx context.Context, fires []schedule.Fire) (map[int64]*fairlead.Job, error) {
	jobs := map[int64]*fairlead.Job{}
	if len(fires) == 0 {
		return jobs, nil
	}
	filter := fairlead.Filter{Limit: len(fires)}
	for _, fire := range fires {
		filter.IDs = append(filter.IDs, fire.Job)
	}
	page, err := r.client.Find(ctx, filter)
	for _, job := range page.Jobs {
		jobs[job.ID] = job
	}
	return jobs, err
}
