package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// jobChoice contains the common fields of requests that select jobs.
type jobChoice interface {
	GetState() []string
	GetKind() []string
	GetQueue() []string
	GetTenant() []string
	GetKey() string
	GetFrom() *timestamppb.Timestamp
	GetTo() *timestamppb.Timestamp
	GetFinishedFrom() *timestamppb.Timestamp
}

// filterOf converts the fields of a request to a filter.
func filterOf(in jobChoice) fairlead.Filter {
	return fairlead.Filter{
		States: texts[fairlead.State](in.GetState()), Kinds: in.GetKind(), Queues: in.GetQueue(), Tenants: in.GetTenant(), Key: in.GetKey(),
		From: message.TimeOf(in.GetFrom()), To: message.TimeOf(in.GetTo()), FinishedFrom: message.TimeOf(in.GetFinishedFrom()),
	}
}

// idPages returns a page of the IDs of the jobs that one object has created, largest first:
// IDs below the given one, and the position of the next page, or zero on the last page.
type idPages func(ctx context.Context, below int64, size int) (ids []int64, next int64, err error)

// makerChoice contains the common fields of requests that select jobs by the object that
// created them.
type makerChoice interface {
	GetSchedule() int64
	GetBatch() int64
}

// madeBy returns the pages of IDs for the runs of a schedule or the jobs of a batch, or nil
// if the request names neither.
func (s *Jobs) madeBy(in makerChoice) (idPages, error) {
	switch {
	case in.GetSchedule() != 0 && in.GetBatch() != 0:
		return nil, rest.InvalidField("batch", "cannot be combined with schedule; use only one of them")
	case in.GetSchedule() != 0:
		return s.runsOf(in.GetSchedule()), nil
	case in.GetBatch() != 0:
		return s.jobsOfBatch(in.GetBatch()), nil
	}
	return nil, nil
}

// runsOf returns the runs of a schedule. A run has the ID of its job.
func (s *Jobs) runsOf(schedule int64) idPages {
	return func(ctx context.Context, below int64, size int) ([]int64, int64, error) {
		fires, next, err := runPage(ctx, s.schedules, schedule, below, size)
		return jobsOf(fires), next, err
	}
}

// jobsOfBatch returns the jobs of a batch's tasks.
func (s *Jobs) jobsOfBatch(id int64) idPages {
	return func(ctx context.Context, below int64, size int) ([]int64, int64, error) {
		page, err := s.batches.Jobs(ctx, batch.JobFilter{Batch: id, Below: below, Limit: size})
		return page.IDs, page.Next, err
	}
}

// findAmong applies a filter to a page of IDs.
func (s *Jobs) findAmong(ctx context.Context, made idPages, filter fairlead.Filter) (fairlead.Page, error) {
	ids, next, err := made(ctx, filter.Below, pageSize(int32(filter.Limit)))
	if err != nil || len(ids) == 0 { // an empty list would select all jobs
		return fairlead.Page{Next: next}, err
	}
	filter.IDs, filter.Below, filter.Limit = ids, 0, len(ids)
	page, err := findPage(ctx, s.client, filter)
	if page.Next == 0 {
		page.Next = next
	}
	return page, err
}

const (
	idsPerCount = 1000 // maximum number of IDs counted at once
	leastIDs    = 25   // minimum number of IDs counted at once
	idsPerJob   = 2    // number of IDs that may be read per counted job
)

// tallyAmong counts jobs like TallyUpTo, but only those with the given IDs.
func (s *Jobs) tallyAmong(ctx context.Context, made idPages, filter fairlead.Filter, atMost int64) (fairlead.Count, error) {
	count := fairlead.Count{States: map[fairlead.State]int64{}}
	size := int(min(idsPerCount, max(leastIDs, atMost)))
	for below, seen := int64(0), int64(0); ; {
		ids, next, err := made(ctx, below, size)
		if err != nil {
			return count, err
		}
		if len(ids) > 0 { // an empty list would select all jobs
			filter.IDs = ids
			some, err := s.client.TallyUpTo(ctx, filter, 0)
			if err != nil {
				return count, err
			}
			for state, n := range some.States {
				count.States[state] += n
			}
		}
		seen += int64(size)
		if next == 0 {
			return count, nil
		}
		if count.Total() >= atMost || seen >= idsPerJob*atMost {
			count.More = true
			return count, nil
		}
		below = next
	}
}
