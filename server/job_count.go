package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// countedAtMost is about how many jobs are counted for a request.
const countedAtMost = 10_000

// CountJobs counts jobs by their state, up to a bound.
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
	var count fairlead.Count
	if made != nil {
		count, err = s.tallyAmong(ctx, made, filter, atMost)
	} else {
		count, err = s.client.TallyUpTo(ctx, filter, atMost)
	}
	if err != nil {
		return nil, err
	}
	return countTo(count, filter.States), nil
}

// countTo is a count as an answer has it: with every state that was asked for, all if
// none was.
func countTo(count fairlead.Count, asked []fairlead.State) *fairleadv1.CountJobsResponse {
	out := &fairleadv1.CountJobsResponse{Total: proto.Int32(int32(count.Total())), More: count.More}
	for _, state := range fairlead.States() {
		if len(asked) == 0 || slices.Contains(asked, state) {
			out.States = append(out.States, &fairleadv1.StateCount{State: string(state), Count: proto.Int32(int32(count.States[state]))})
		}
	}
	return out
}
