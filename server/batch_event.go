package server

import (
	"context"

	batchscheduler "github.com/fairlead-io/fairlead/api/batch_scheduler"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// BatchEvents implements batch_scheduler.BatchSchedulerService.
type BatchEvents struct {
	jobs *BatchJobs
}

// NewBatchEvents returns a BatchSchedulerService, which receives messages about batches.
func NewBatchEvents(jobs *BatchJobs) *BatchEvents { return &BatchEvents{jobs: jobs} }

// TriggerEvent creates a batch or, if the request contains a batch ID, wakes an existing
// batch.
func (s *BatchEvents) TriggerEvent(ctx context.Context, in *batchscheduler.TriggerEventRequest) (*batchscheduler.TriggerEventResponse, error) {
	switch creates, wakes := len(in.GetJobData()) > 0, in.GetBatchId() != 0; {
	case in.GetEventType() != batchscheduler.EventType_CREATE_BATCH:
		return nil, rest.InvalidField("event_type", "must be CREATE_BATCH (1)")
	case creates && wakes:
		return nil, rest.InvalidField("batch_id", "is set together with job_data; send only batch_id to wake a batch, or only job_data to create one")
	case creates:
		return s.create(ctx, in.GetJobData())
	case wakes:
		return s.wake(ctx, in.GetBatchId())
	}
	return nil, rest.InvalidField("job_data", "is missing, and so is batch_id; send job_data to create a batch, or batch_id to wake one")
}

func (s *BatchEvents) create(ctx context.Context, data []byte) (*batchscheduler.TriggerEventResponse, error) {
	request := &fairleadv1.BatchJob{}
	if err := rest.Unmarshal(data, request); err != nil {
		return nil, within("job_data", err)
	}
	created, err := s.jobs.CreateBatchJob(ctx, request)
	if err != nil {
		return nil, within("job_data", err)
	}
	return &batchscheduler.TriggerEventResponse{BatchId: created.GetBatchId()}, nil
}

// wake checks a batch immediately instead of at its next regular check. A completed batch
// stays unchanged.
func (s *BatchEvents) wake(ctx context.Context, id int64) (*batchscheduler.TriggerEventResponse, error) {
	batches := s.jobs.batches
	if _, err := batches.client.Get(ctx, id); err != nil {
		return nil, err
	}
	if _, err := batch.Conduct(ctx, batches.store, id); err != nil {
		return nil, err
	}
	return &batchscheduler.TriggerEventResponse{BatchId: id}, nil
}
