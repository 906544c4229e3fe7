package cdc

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// Source 000, 2.2.5: operations are given the user who made the batch, and 3.1.3: the
// status of the task.
func TestOperationsAreToldWhoMadeTheBatchAndHowTheTaskStands(t *testing.T) {
	var got Task
	op := Operation{
		TargetType: "cdc", BatchType: "k",
		AlreadyDone: func(context.Context, Task, json.RawMessage) (bool, error) { return false, nil },
		Process: func(_ context.Context, task Task, _, _ json.RawMessage) error {
			got = task
			return nil
		},
	}
	mux := fairlead.NewMux()
	batch.Handle(mux, op.adapt())
	args, err := json.Marshal(batch.TaskArgs{
		Batch: 7, Task: 8, Type: "k", Creator: "ada", Env: "live", Region: "sg", AZ: "a", Status: batch.TaskRetryPending,
		Change: batch.Change{Target: batch.Target{ID: "1", Name: "orders", Type: "cdc", Env: "live"}, Before: json.RawMessage(`{}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := mux.Entry("cdc.k").Handler.Work(t.Context(), &fairlead.Job{ID: 8, Kind: "cdc.k", Args: args}); err != nil {
		t.Fatal(err)
	}
	want := Task{
		BatchID: 7, BatchType: "k", Creator: "ada", Status: batch.TaskRetryPending, Env: "live", Region: "sg", AZ: "a",
		TargetID: "1", TargetName: "orders", TargetType: "cdc", TargetEnv: "live",
	}
	if got != want {
		t.Errorf("it is told %+v, want %+v", got, want)
	}
}
