package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// countedAtMost is the approximate number of jobs counted for a request.
const countedAtMost = 10_000

// CountJobs counts the matching jobs by state, up to a limit.
func (s *Jobs) CountJobs(ctx context.Context, in *fairleadv1.CountJobsRequest) (*fairleadv1.CountJobsResponse, error) {
	made, err := s.madeBy(in)
	if err != nil {
		return nil, err
	}
	atMost := int64(in.GetAtMost())
	if atMost == 0 {
		atMost = countedAtMost
	}
	filter := filterOf(in)
	asked := filter.States
	var count fairlead.Count
	switch {
	case made != nil:
		count, err = s.tallyAmong(ctx, made, filter, atMost)
	case byLane(filter):
		count, err = s.countByLane(ctx, filter, atMost)
	default:
		count, err = s.client.TallyUpTo(ctx, filter, atMost)
	}
	if err != nil {
		return nil, err
	}
	return countTo(count, asked), nil
}

// byLane reports whether a filter chooses jobs by state, queue, tenant and kind alone.
func byLane(f fairlead.Filter) bool {
	return f.Key == "" && f.From.IsZero() && f.To.IsZero() && f.FinishedFrom.IsZero()
}

// countByLane adds up the live jobs of lanes, and counts those that have ended up to a bound.
func (s *Jobs) countByLane(ctx context.Context, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	var count fairlead.Count
	states := filter.States
	if len(states) == 0 {
		states = fairlead.States()
	}
	ended := slices.DeleteFunc(slices.Clone(states), func(state fairlead.State) bool { return !state.Final() })
	if len(ended) > 0 {
		filter.States = ended
		var err error
		if count, err = s.client.TallyUpTo(ctx, filter, atMost); err != nil {
			return count, err
		}
	}
	if len(ended) == len(states) {
		return count, nil
	}
	report, err := s.client.Usage(ctx)
	if err != nil {
		return count, err
	}
	among := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	if count.States == nil { // the caller may see none of those that have ended
		count.States = map[fairlead.State]int64{}
	}
	var sum fairlead.LaneUsage
	for _, lane := range report.Lanes {
		if among(filter.Queues, lane.Queue) && among(filter.Tenants, lane.Tenant) && among(filter.Kinds, lane.Kind) {
			sum.Scheduled, sum.Parked, sum.Ready = sum.Scheduled+lane.Scheduled, sum.Parked+lane.Parked, sum.Ready+lane.Ready
			sum.Running, sum.Waiting = sum.Running+lane.Running, sum.Waiting+lane.Waiting
		}
	}
	for state, n := range map[fairlead.State]int{
		fairlead.Scheduled: sum.Scheduled, fairlead.Parked: sum.Parked, fairlead.Ready: sum.Ready, fairlead.Running: sum.Running, fairlead.Waiting: sum.Waiting,
	} {
		if slices.Contains(states, state) {
			count.States[state] = int64(n)
		}
	}
	return count, nil
}

// countTo converts a count to its API form. It includes every requested state, or all
// states if the request names none.
func countTo(count fairlead.Count, asked []fairlead.State) *fairleadv1.CountJobsResponse {
	out := &fairleadv1.CountJobsResponse{Total: proto.Int32(int32(count.Total())), More: count.More}
	for _, state := range fairlead.States() {
		if len(asked) == 0 || slices.Contains(asked, state) {
			out.States = append(out.States, &fairleadv1.StateCount{State: string(state), Count: proto.Int32(int32(count.States[state]))})
		}
	}
	return out
}
