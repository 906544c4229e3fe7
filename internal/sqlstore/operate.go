package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// operatorStore implements the methods of Operator, each for one job.
type operatorStore struct {
	of operating
}

// operating is the part of a store that operatorStore uses.
type operating interface {
	// Operate applies a deed to one job, in whatever place it is, in a transaction of its
	// own. It returns ErrNotFound if the job does not exist, and ErrConflict if its state
	// forbids the deed.
	Operate(ctx context.Context, id int64, deed *verdict.Deed) error
}

// Cancel cancels a job, or asks it to stop if it is running.
func (s *operatorStore) Cancel(ctx context.Context, id int64, reason string) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToCancel, Reason: CleanText(reason)})
}

// Reopen makes a failed or cancelled job ready or parked again.
func (s *operatorStore) Reopen(ctx context.Context, id int64) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToReopen})
}

// Reschedule sets the time at which a job becomes due. The zero time means now.
func (s *operatorStore) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToReschedule, NotBefore: notBefore})
}

// RunNow makes a scheduled job ready or parked immediately.
func (s *operatorStore) RunNow(ctx context.Context, id int64) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToRun})
}

// SetPriority changes the priority of a job that has not ended.
func (s *operatorStore) SetPriority(ctx context.Context, id int64, priority int) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToPrioritize, Priority: priority})
}

// SetQueue moves a job that has not started to another queue.
func (s *operatorStore) SetQueue(ctx context.Context, id int64, queue string) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToMove, Queue: queue})
}

// Delete removes a job and all its records.
func (s *operatorStore) Delete(ctx context.Context, id int64) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToDelete})
}

// DeleteSeen removes a job if its state and fence are still those that the caller saw.
func (s *operatorStore) DeleteSeen(ctx context.Context, seen *fairlead.Job) error {
	return s.of.Operate(ctx, seen.ID, &verdict.Deed{
		Action: verdict.ToDelete, Among: []fairlead.State{seen.State}, Fences: map[int64]int64{seen.ID: seen.Fence},
	})
}
