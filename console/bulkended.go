package console

import (
	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// finalStates lists the final job states, in the order used by the job list.
var finalStates = []string{"succeeded", "failed", "cancelled", "skipped"}

// endedSince counts the jobs of a bulk action that have ended since its creation, by
// state. The bulk action changes the state, the error and the queue of jobs, so the counts
// ignore these conditions and include every job that matches the rest of the filter.
// Deleted jobs cannot be counted.
func (v *visit) endedSince(b *fairleadv1.Bulk) ([]stateCount, error) {
	if b.GetAction() == "delete" {
		return nil, nil
	}
	filter := proto.CloneOf(b.GetFilter())
	filter.State, filter.FinishedFrom = finalStates, b.GetCreatedAt()
	if to := filter.GetTo(); to == nil || to.AsTime().After(b.GetCreatedAt().AsTime()) {
		filter.To = b.GetCreatedAt() // jobs created later are not covered
	}
	if b.GetAction() == "move" && len(filter.GetQueue()) > 0 {
		filter.Queue = []string{b.GetQueue()}
	}
	found, more, err := v.countByState(filter)
	if err != nil {
		return nil, err
	}
	var counts []stateCount
	for _, state := range finalStates {
		n := found[state]
		if n == 0 {
			continue
		}
		filter.State = []string{state}
		query := filterQuery(filter)
		if more {
			query.Set("at_most", text(n))
		}
		counts = append(counts, stateCount{state, count{N: n, More: more, Href: v.link("/jobs", query)}})
	}
	return counts, nil
}

// selectedAtOnce is the page size for counting jobs selected by ID. They must be listed,
// because the API cannot count them.
const selectedAtOnce = 1000

// countByState counts jobs in the states of a filter. more reports that the numbers are
// lower bounds.
func (v *visit) countByState(f *fairleadv1.JobFilter) (n map[string]int64, more bool, err error) {
	n = map[string]int64{}
	if len(f.GetId()) > 0 {
		found, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{
			Id: f.GetId(), State: f.GetState(), Kind: f.GetKind(), Queue: f.GetQueue(), Tenant: f.GetTenant(), Key: f.GetKey(),
			From: f.GetFrom(), To: f.GetTo(), FinishedFrom: f.GetFinishedFrom(), PageSize: selectedAtOnce,
		})
		for _, job := range found.GetItems() {
			n[job.GetState()]++
		}
		return n, found.GetNextPageToken() != "", err
	}
	found, err := v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
		State: f.GetState(), Kind: f.GetKind(), Queue: f.GetQueue(), Tenant: f.GetTenant(), Key: f.GetKey(),
		From: f.GetFrom(), To: f.GetTo(), FinishedFrom: f.GetFinishedFrom(),
	})
	for _, state := range found.GetStates() {
		n[state.GetState()] = int64(state.GetCount())
	}
	return n, found.GetMore(), err
}
