package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// operatorStore does to jobs what people ask for, one job at a time.
type operatorStore struct {
	of operating
}

// operating is what an operatorStore needs of a store.
type operating interface {
	// Operate carries a deed out upon one job, wherever it is, in a transaction of its own.
	// It fails with ErrNotFound, and with ErrConflict if the job's state forbids it.
	Operate(ctx context.Context, id int64, deed *verdict.Deed) error
}

// Cancel ends a job, or asks a running one to stop.
func (s *operatorStore) Cancel(ctx context.Context, id int64, reason string) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToCancel, Reason: CleanText(reason)})
}

// Reopen makes a failed or cancelled job ready or parked again.
func (s *operatorStore) Reopen(ctx context.Context, id int64) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToReopen})
}

// Reschedule sets when a job becomes due. The zero time means now.
func (s *operatorStore) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToReschedule, NotBefore: notBefore})
}

// RunNow makes a scheduled job ready or parked at once.
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

// Delete removes a job and all that is known of it.
func (s *operatorStore) Delete(ctx context.Context, id int64) error {
	return s.of.Operate(ctx, id, &verdict.Deed{Action: verdict.ToDelete})
}

// DeleteSeen removes a job that is in the state and under the fence in which the caller saw it.
func (s *operatorStore) DeleteSeen(ctx context.Context, seen *fairlead.Job) error {
	return s.of.Operate(ctx, seen.ID, &verdict.Deed{
		Action: verdict.ToDelete, Among: []fairlead.State{seen.State}, Fences: map[int64]int64{seen.ID: seen.Fence},
	})
}
