package server

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Batches implements the BatchService.
type Batches struct {
	store    Store
	client   *batch.Client
	stopping <-chan struct{}
}

// NewBatches returns a BatchService backed by store. If kinds is not nil, the service
// rejects tasks that the operations registered with kinds reject. When stopping is closed,
// all watches end.
func NewBatches(store Store, kinds *fairlead.Mux, stopping <-chan struct{}) *Batches {
	return &Batches{store: store, client: batch.NewClient(store).Knowing(kinds), stopping: stopping}
}

// shown converts a batch to its API form.
func (s *Batches) shown(ctx context.Context, batch batch.Batch) (*fairleadv1.Batch, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	return batchTo(&batch, now), nil
}

// after returns the API form of a batch after an action on it.
func (s *Batches) after(ctx context.Context, batch batch.Batch, err error) (*fairleadv1.Batch, error) {
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, batch)
}

// CreateBatch stores a batch and its tasks.
func (s *Batches) CreateBatch(ctx context.Context, in *fairleadv1.NewBatch) (*fairleadv1.Batch, error) {
	changes := make([]batch.Change, len(in.GetTasks()))
	for i, task := range in.GetTasks() {
		changes[i] = message.ChangeOf(task)
	}
	batch, err := s.create(ctx, in, changes)
	return s.after(ctx, batch, err)
}

func (s *Batches) create(ctx context.Context, in *fairleadv1.NewBatch, changes []batch.Change) (batch.Batch, error) {
	b, err := batchOf(in)
	if err != nil {
		return batch.Batch{}, err
	}
	if len(changes) == 0 {
		return batch.Batch{}, rest.InvalidField("tasks", "is empty; a batch needs at least one task")
	}
	return s.client.Start(ctx, b, changes...)
}

// GetBatch returns a batch.
func (s *Batches) GetBatch(ctx context.Context, in *fairleadv1.GetBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Get(ctx, in.GetId())
	return s.after(ctx, batch, err)
}

// ListBatches returns batches, newest first.
func (s *Batches) ListBatches(ctx context.Context, in *fairleadv1.ListBatchesRequest) (*fairleadv1.ListBatchesResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	bounded, bound := paged.Within(ctx, overload.PageBytes)
	batches, err := s.client.List(bounded, batch.Filter{
		Names: in.GetName(), Types: in.GetType(), Queues: in.GetQueue(), Tenants: in.GetTenant(), Open: in.GetOpen(),
		States: texts[batch.State](in.GetState()), Creators: in.GetCreator(), Envs: in.GetEnv(),
		Below: below, Limit: size + 1, // one more to detect a next page
	})
	if err != nil {
		return nil, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	batches, next := boundedPage(bound, batches, size, func(b batch.Batch) int64 { return b.ID })
	shown := func(b batch.Batch) *fairleadv1.Batch { return batchTo(&b, now) }
	return &fairleadv1.ListBatchesResponse{Items: items(batches, shown), NextPageToken: pageToken(next)}, nil
}

// ListBatchTasks returns a batch's tasks.
func (s *Batches) ListBatchTasks(ctx context.Context, in *fairleadv1.ListBatchTasksRequest) (*fairleadv1.ListBatchTasksResponse, error) {
	after, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	tasks, next, err := s.tasks(ctx, batch.TaskFilter{
		Batch: in.GetId(), States: texts[batch.TaskState](in.GetState()), Doubtful: in.GetDoubtful(), After: after,
	}, pageSize(in.GetPageSize()))
	if err != nil {
		return nil, err
	}
	return &fairleadv1.ListBatchTasksResponse{Items: items(tasks, taskTo), NextPageToken: pageToken(next)}, nil
}

// tasks returns a page of a batch's tasks, and the ID after which the next page begins, or
// zero on the last page.
func (s *Batches) tasks(ctx context.Context, filter batch.TaskFilter, size int) (tasks []batch.Task, next int64, err error) {
	filter.Limit = size + 1
	bounded, bound := paged.Within(ctx, overload.PageBytes)
	tasks, err = s.client.Tasks(bounded, filter)
	tasks, next = boundedPage(bound, tasks, size, func(task batch.Task) int64 { return task.ID })
	return tasks, next, err
}

// WatchBatch sends the batch after every change until the batch has completed.
func (s *Batches) WatchBatch(ctx context.Context, in *fairleadv1.GetBatchRequest, send func(*fairleadv1.Batch) error) error {
	ended := func(batch *fairleadv1.Batch) bool { return batch.GetEndedAt() != nil }
	return watch(ctx, s.stopping, in, s.GetBatch, unguessed, ended, send)
}

// unguessed returns a batch without the fields that change only with time.
func unguessed(batch *fairleadv1.Batch) *fairleadv1.Batch {
	out := proto.CloneOf(batch)
	out.Throughput, out.Eta = 0, nil
	return out
}
