package cdc

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// Register registers the handlers of all operations with mux.
func (h *Handler) Register(mux *fairlead.Mux) {
	for _, op := range h.Operations() {
		batch.Handle(mux, op.adapt())
	}
}

// adapt converts an operation to a batch.Operation.
func (op Operation) adapt() batch.Operation {
	return batch.Operation{
		TargetType: op.TargetType, BatchType: op.BatchType, Timeout: op.Timeout,
		Check: func(task batch.TaskArgs) error {
			return op.Check(taskOf(task), task.Before, task.After)
		},
		BuildParam: func(ctx context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			return op.BuildParam(ctx, taskOf(task), task.After)
		},
		AlreadyDone: func(ctx context.Context, task batch.TaskArgs) (bool, error) {
			want := task.After
			if task.Undo {
				want = task.Before
			}
			return op.AlreadyDone(ctx, taskOf(task), want)
		},
		Process: func(ctx context.Context, task batch.TaskArgs) error {
			return op.Process(ctx, taskOf(task), task.Before, task.After)
		},
		Undo: func(ctx context.Context, task batch.TaskArgs) error {
			return op.Undo(ctx, taskOf(task), task.Before, task.After)
		},
	}
}

func taskOf(task batch.TaskArgs) Task {
	return Task{
		BatchID: task.Batch, BatchType: task.Type, Creator: task.Creator, Status: task.Status, Env: task.Env, Region: task.Region, AZ: task.AZ,
		TargetID: task.Target.ID, TargetName: task.Target.Name, TargetType: task.Target.Type, TargetEnv: task.Target.Env,
		Undo: task.Undo,
	}
}
