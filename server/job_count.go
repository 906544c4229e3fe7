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
