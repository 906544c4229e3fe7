package server

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// bulkActions contains the action of BulkJobs on each job.
var bulkActions = map[bulk.Action]func(ctx context.Context, client *fairlead.Client, job *fairlead.Job, reason string) error{
	bulk.Cancel: func(ctx context.Context, client *fairlead.Client, job *fairlead.Job, reason string) error {
		return client.Cancel(ctx, job.ID, reason)
	},
	bulk.Retry: func(ctx context.Context, client *fairlead.Client, job *fairlead.Job, _ string) error {
		return client.Retry(ctx, job.ID)
	},
	bulk.Run: func(ctx context.Context, client *fairlead.Client, job *fairlead.Job, _ string) error {
		return client.RunNow(ctx, job.ID)
	},
	bulk.Delete: func(ctx context.Context, client *fairlead.Client, job *fairlead.Job, _ string) error {
		return client.DeleteSeen(ctx, job)
	},
}

// BulkJobs applies an action to all matching jobs. It goes through them once, from newest to
// oldest. It therefore does not process a job twice, even if the action makes the job match
// again.
func (s *Jobs) BulkJobs(ctx context.Context, in *fairleadv1.BulkJobsRequest) (*fairleadv1.BulkJobsResponse, error) {
	action, filter := bulk.Action(in.GetAction()), filterOf(in.GetFilter())
	if !action.Narrow(&filter) {
		return nil, rest.InvalidField("filter.state", "includes no state to which the action applies")
	}
	filter.IDs = in.GetFilter().GetId()
	out := &fairleadv1.BulkJobsResponse{}
	if in.GetDryRun() {
		count, err := s.client.TallyUpTo(ctx, filter, countedAtMost)
		out.Matched, out.More = count.Total(), count.More
		return out, err
	}
	for more := true; more; more = filter.Below > 0 {
		page, err := s.client.Find(ctx, filter)
		if err != nil {
			return nil, err
		}
		out.Matched += int64(len(page.Jobs))
		for _, job := range page.Jobs {
			if job.Kind == bulk.Kind { // it must be resumed or stopped as a bulk
				out.Missed++
				continue
			}
			switch err := bulkActions[action](ctx, s.client, job, in.GetReason()); {
			case err == nil:
				out.Done++
			case errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound):
				out.Missed++
			default:
				return nil, err
			}
		}
		filter.Below = page.Next
	}
	return out, nil
}
