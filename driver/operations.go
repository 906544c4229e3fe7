package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Operations has a method for each operation on a job. Every store of this module embeds it,
// because its operations were methods in version 0.1.0.
//
// Deprecated: use fairlead.Client or Operate.
type Operations struct {
	On interface {
		Operate(ctx context.Context, id int64, operation fairlead.Operation) error
	}
}

// Cancel applies OpCancel.
func (o *Operations) Cancel(ctx context.Context, id int64, reason string) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpCancel, Reason: reason})
}

// Reopen applies OpReopen.
func (o *Operations) Reopen(ctx context.Context, id int64) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpReopen})
}

// Reschedule applies OpReschedule.
func (o *Operations) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpReschedule, NotBefore: notBefore})
}

// RunNow applies OpRunNow.
func (o *Operations) RunNow(ctx context.Context, id int64) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpRunNow})
}

// SetPriority applies OpSetPriority.
func (o *Operations) SetPriority(ctx context.Context, id int64, priority int) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpSetPriority, Priority: priority})
}

// SetQueue applies OpSetQueue.
func (o *Operations) SetQueue(ctx context.Context, id int64, queue string) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpSetQueue, Queue: queue})
}

// Delete applies OpDelete.
func (o *Operations) Delete(ctx context.Context, id int64) error {
	return o.On.Operate(ctx, id, fairlead.Operation{Op: fairlead.OpDelete})
}
