package server

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server/internal/masks"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/tracing"
)

// texts converts strings to another string type.
func texts[T ~string](values []string) []T {
	if len(values) == 0 {
		return nil
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}

// Jobs implements the JobService.
type Jobs struct {
	client    *fairlead.Client
	schedules *schedule.Client
	batches   *batch.Client
	holds     *hold.Client
	enqueuer  *tracing.Enqueuer
	args      ArgsChecks
	kinds     *fairlead.Mux // kinds handled in this process; nil = unknown
	masks     *masks.Masks  // nil = nothing is confidential
	stopping  <-chan struct{}
	ended     func(jobs ...*fairlead.Job) // reports ended jobs to the node of this process
}

// NewJobs returns a JobService backed by store. When stopping is closed, all watches end.
func NewJobs(store Store, stopping <-chan struct{}) *Jobs {
	return &Jobs{
		client: fairlead.NewClient(store), schedules: schedule.NewClient(store), batches: batch.NewClient(store), holds: hold.NewClient(store), enqueuer: tracing.NewEnqueuer(nil), stopping: stopping,
		ended: func(...*fairlead.Job) {},
	}
}

// EnqueueJobs stores either all jobs or none.
func (s *Jobs) EnqueueJobs(ctx context.Context, in *fairleadv1.EnqueueJobsRequest) (*fairleadv1.EnqueueJobsResponse, error) {
	jobs := items(in.GetJobs(), message.NewJobOf)
	if err := s.args.check(jobs); err != nil {
		return nil, err
	}
	err := s.enqueuer.Enqueue(ctx, jobs, func(ctx context.Context) error { return s.client.Enqueue(ctx, jobs...) })
	if err != nil {
		return nil, ofOnlyJob(jobs, err)
	}
	return &fairleadv1.EnqueueJobsResponse{Ids: idsOf(jobs)}, nil
}

// ofOnlyJob removes the list index from the field names in a validation error if the
// request has only one job.
func ofOnlyJob(jobs []*fairlead.Job, err error) error {
	var invalid *fairlead.InvalidError
	if len(jobs) != 1 || !errors.As(err, &invalid) {
		return err
	}
	out := &fairlead.InvalidError{}
	for _, f := range invalid.Fields {
		out.Fields = append(out.Fields, fairlead.FieldError{Field: "jobs[0]." + f.Field, Message: f.Message})
	}
	return out
}

func idsOf(jobs []*fairlead.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// AssignJobs stores jobs and spreads their StartBy times over a period.
func (s *Jobs) AssignJobs(ctx context.Context, in *fairleadv1.AssignJobsRequest) (*fairleadv1.EnqueueJobsResponse, error) {
	jobs := items(in.GetJobs(), message.NewJobOf)
	if err := s.args.check(jobs); err != nil {
		return nil, err
	}
	assignment := fairlead.Assignment{Tenant: in.GetTenant(), Start: message.TimeOf(in.GetStart()), End: message.TimeOf(in.GetEnd()), Jobs: jobs}
	err := s.enqueuer.Enqueue(ctx, jobs, func(ctx context.Context) error { return s.client.Assign(ctx, assignment) })
	if err != nil {
		return nil, err
	}
	return &fairleadv1.EnqueueJobsResponse{Ids: idsOf(jobs)}, nil
}

// GetJob returns a job.
func (s *Jobs) GetJob(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.Job, error) {
	job, err := s.client.Get(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	out, err := s.jobsTo(ctx, job)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// ListJobs returns jobs, newest first.
func (s *Jobs) ListJobs(ctx context.Context, in *fairleadv1.ListJobsRequest) (*fairleadv1.ListJobsResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	made, err := s.madeBy(in)
	if err != nil {
		return nil, err
	}
	if made != nil && len(in.GetId()) > 0 {
		return nil, rest.InvalidField("id", "cannot be combined with schedule or batch")
	}
	filter := filterOf(in)
	filter.IDs, filter.Below, filter.Limit = in.GetId(), below, int(in.GetPageSize())
	var page fairlead.Page
	if made != nil {
		page, err = s.findAmong(ctx, made, filter)
	} else {
		page, err = findPage(ctx, s.client, filter)
	}
	if err != nil {
		return nil, err
	}
	items, err := s.jobsTo(ctx, page.Jobs...)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListJobsResponse{Items: items, NextPageToken: pageToken(page.Next), SearchedTo: page.Next}, nil
}

// ListAttempts returns a job's runs, except those that succeeded without incident.
func (s *Jobs) ListAttempts(ctx context.Context, in *fairleadv1.GetJobRequest) (*fairleadv1.ListAttemptsResponse, error) {
	job, err := s.client.Get(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	attempts, err := s.client.Attempts(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.masks.HideAttempts(ctx, job, attempts); err != nil {
		return nil, err
	}
	return &fairleadv1.ListAttemptsResponse{Items: items(attempts, attemptTo)}, nil
}

func attemptTo(a fairlead.Attempt) *fairleadv1.Attempt {
	return &fairleadv1.Attempt{
		Run: int32(a.Run), Fence: a.Fence, Node: int64(a.Node), StartedAt: message.Time(a.StartedAt), FinishedAt: message.Time(a.FinishedAt),
		Reason: string(a.Reason), Error: a.Error,
	}
}
