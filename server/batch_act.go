package server

import (
	"context"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// CancelBatch prevents a batch from starting more tasks.
func (s *Batches) CancelBatch(ctx context.Context, in *fairleadv1.CancelBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Cancel(ctx, in.GetId(), in.GetReason())
	return s.after(ctx, batch, err)
}

// RetryBatch retries a batch's failed tasks.
func (s *Batches) RetryBatch(ctx context.Context, in *fairleadv1.RetryBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Retry(ctx, in.GetId(), in.GetTasks()...)
	return s.after(ctx, batch, err)
}

// mostUndone limits the number of tasks in the result of a dry run of a rollback.
const mostUndone = 1000

// RollBackBatch restores the values that the batch's targets had before the batch. In a dry
// run, it only returns what it would restore.
func (s *Batches) RollBackBatch(ctx context.Context, in *fairleadv1.RollBackBatchRequest) (*fairleadv1.Batch, error) {
	what := batch.RollBack{Tasks: in.GetTasks(), Failed: in.GetIncludeFailed(), Serial: in.GetSerial()}
	if !in.GetDryRun() {
		batch, err := s.client.RollBack(ctx, in.GetId(), what)
		return s.after(ctx, batch, err)
	}
	tasks, total, err := s.client.PlanRollBack(ctx, in.GetId(), what, mostUndone)
	if err != nil {
		return nil, err
	}
	out, err := s.GetBatch(ctx, &fairleadv1.GetBatchRequest{Id: in.GetId()})
	if err != nil {
		return nil, err
	}
	out.WouldUndoTotal = int32(total)
	for i := range tasks {
		out.WouldUndo = append(out.WouldUndo, taskTo(tasks[i]))
	}
	return out, nil
}

// ApproveBatch releases the tasks that wait for the canary.
func (s *Batches) ApproveBatch(ctx context.Context, in *fairleadv1.GetBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Approve(ctx, in.GetId())
	return s.after(ctx, batch, err)
}

// PauseBatch prevents a batch's tasks from starting until the batch is resumed.
func (s *Batches) PauseBatch(ctx context.Context, in *fairleadv1.PauseBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Pause(ctx, in.GetId(), in.GetReason())
	return s.after(ctx, batch, err)
}

// ResumeBatch lets a paused batch's tasks start again.
func (s *Batches) ResumeBatch(ctx context.Context, in *fairleadv1.GetBatchRequest) (*fairleadv1.Batch, error) {
	batch, err := s.client.Resume(ctx, in.GetId())
	return s.after(ctx, batch, err)
}

// PatchBatch changes a batch's pace.
func (s *Batches) PatchBatch(ctx context.Context, in *fairleadv1.PatchBatchRequest) (*fairleadv1.Batch, error) {
	pace := batch.Pace{Rate: in.Rate}
	if in.MaxRunning != nil {
		most := int(in.GetMaxRunning())
		pace.MaxRunning = &most
	}
	if pace == (batch.Pace{}) {
		return nil, rest.InvalidField("max_running", "is missing; set max_running, rate or both")
	}
	batch, err := s.client.SetPace(ctx, in.GetId(), pace)
	return s.after(ctx, batch, err)
}
