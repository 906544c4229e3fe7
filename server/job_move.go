package server

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
)

// after performs an action on a job and returns the resulting job.
func (s *Jobs) after(ctx context.Context, id int64, do func() error) (*fairleadv1.Job, error) {
	if err := do(); err != nil {
		return nil, err
	}
	job, err := s.GetJob(ctx, &fairleadv1.GetJobRequest{Id: id})
	if err == nil && fairlead.State(job.GetState()).Final() {
		s.ended(message.JobOf(job))
	}
	return job, err
}

// CancelJob cancels a job that has not started, or requests that a running job stop.
func (s *Jobs) CancelJob(ctx context.Context, in *fairleadv1.CancelJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.Cancel(ctx, in.GetId(), in.GetReason()) })
}

// RetryJob makes a failed or cancelled job ready again.
func (s *Jobs) RetryJob(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.Retry(ctx, in.GetId()) })
}

// RunJob makes a scheduled job ready now, before its due time.
func (s *Jobs) RunJob(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.RunNow(ctx, in.GetId()) })
}

// RescheduleJob changes the due time of a job that has not started.
func (s *Jobs) RescheduleJob(ctx context.Context, in *fairleadv1.RescheduleJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.Reschedule(ctx, in.GetId(), message.TimeOf(in.GetNotBefore())) })
}

// SetJobPriority changes an unfinished job's priority.
func (s *Jobs) SetJobPriority(ctx context.Context, in *fairleadv1.SetJobPriorityRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.SetPriority(ctx, in.GetId(), int(in.GetPriority())) })
}

// MoveJob moves a job to another queue, provided that the job has not started.
func (s *Jobs) MoveJob(ctx context.Context, in *fairleadv1.MoveJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.client.SetQueue(ctx, in.GetId(), in.GetQueue()) })
}

// FinishJob resolves a waiting job as succeeded.
func (s *Jobs) FinishJob(ctx context.Context, in *fairleadv1.FinishJobRequest) (*fairleadv1.Job, error) {
	return s.after(ctx, in.GetId(), func() error { return s.resolve(ctx, in.GetId(), in.GetFence(), in.GetOutput(), nil) })
}

// FailJob resolves a waiting job's current attempt as failed.
func (s *Jobs) FailJob(ctx context.Context, in *fairleadv1.FailJobRequest) (*fairleadv1.Job, error) {
	failure := errors.New(in.GetError())
	if in.GetFinal() {
		failure = fairlead.Fatal(failure)
	}
	return s.after(ctx, in.GetId(), func() error { return s.resolve(ctx, in.GetId(), in.GetFence(), nil, failure) })
}

// resolve answers a run. A zero fence means the current run.
func (s *Jobs) resolve(ctx context.Context, id, fence int64, output []byte, failure error) error {
	if fence == 0 {
		job, err := s.client.Get(ctx, id)
		if err != nil {
			return err
		}
		if job.State != fairlead.Running && job.State != fairlead.Waiting {
			return driver.IllegalMove("answer for", id, job.State)
		}
		fence = job.Fence
	}
	return s.client.Resolve(ctx, id, fence, output, failure)
}

// DeleteJob deletes a job, provided that it is not running.
func (s *Jobs) DeleteJob(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.DeleteJobResponse, error) {
	if err := s.client.Delete(ctx, in.GetId()); err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteJobResponse{}, nil
}

// WatchJob sends the job after every change until the job has reached a final state.
func (s *Jobs) WatchJob(ctx context.Context, in *fairleadv1.GetJobRequest, send func(*fairleadv1.Job) error) error {
	whole := func(job *fairleadv1.Job) *fairleadv1.Job { return job }
	final := func(job *fairleadv1.Job) bool { return fairlead.State(job.GetState()).Final() }
	return watch(ctx, s.stopping, in, s.GetJob, whole, final, send)
}
