package server

import (
	"context"
	"errors"
	"slices"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// bulkAction is what can be done to many jobs, and in which states.
type bulkAction struct {
	states []fairlead.State
	do     func(ctx context.Context, client *fairlead.Client, id int64, reason string) error
}

var bulkActions = map[string]bulkAction{
	"cancel": {
		[]fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Running, fairlead.Waiting},
		func(ctx context.Context, client *fairlead.Client, id int64, reason string) error {
			return client.Cancel(ctx, id, reason)
		},
	},
	"retry": {
		[]fairlead.State{fairlead.Failed, fairlead.Cancelled},
		func(ctx context.Context, client *fairlead.Client, id int64, _ string) error {
			return client.Retry(ctx, id)
		},
	},
	"run": {
		[]fairlead.State{fairlead.Scheduled},
		func(ctx context.Context, client *fairlead.Client, id int64, _ string) error {
			return client.RunNow(ctx, id)
		},
	},
	"delete": {
		[]fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped},
		func(ctx context.Context, client *fairlead.Client, id int64, _ string) error {
			return client.Delete(ctx, id)
		},
	},
}

// BulkJobs does the same to all jobs that match. It goes through them once, from
// the newest to the oldest, so that jobs which it makes match again are not met
// twice.
func (s *Jobs) BulkJobs(ctx context.Context, in *fairleadv1.BulkJobsRequest) (*fairleadv1.BulkJobsResponse, error) {
	action := bulkActions[in.GetAction()]
	filter, err := action.filter(in.GetFilter())
	if err != nil {
		return nil, err
	}
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
			switch err := action.do(ctx, s.client, job.ID, in.GetReason()); {
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

// filter chooses those of the jobs that the action allows.
func (a bulkAction) filter(in *fairleadv1.JobFilter) (fairlead.Filter, error) {
	filter := filterOf(in)
	asked := filter.States
	filter.IDs, filter.States = in.GetId(), a.states
	if len(asked) > 0 {
		filter.States = slices.DeleteFunc(asked, func(state fairlead.State) bool { return !slices.Contains(a.states, state) })
		if len(filter.States) == 0 {
			return filter, refuseField("filter.state", "names no state in which this can be done")
		}
	}
	return filter, nil
}
