package console

import (
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var batchActions = []action{
	{name: "batch-approve", path: "/batches/{id}/approve", Title: "Approve canary", Nav: "batches", method: "ApproveBatch", load: loadBatchAct, do: approveBatch},
	{name: "batch-resume", path: "/batches/{id}/resume", Title: "Resume batch", Nav: "batches", method: "ResumeBatch", load: loadBatchAct, do: resumeBatch},
	{name: "batch-pause", path: "/batches/{id}/pause", Title: "Pause batch", Nav: "batches", method: "PauseBatch", load: loadBatchAct, do: pauseBatch},
	{name: "batch-pace", path: "/batches/{id}/pace", Title: "Change pace", Nav: "batches", method: "PatchBatch", load: loadBatchAct, do: setBatchPace},
	{name: "batch-retry", path: "/batches/{id}/retry", Title: "Retry failed tasks", Nav: "batches", method: "RetryBatch", load: loadBatchAct, do: retryBatch},
	{name: "batch-rollback", path: "/batches/{id}/rollback", Title: "Roll back batch", Nav: "batches", method: "RollBackBatch", Grave: true, load: loadRollBack, do: rollBackBatch},
	{name: "batch-cancel", path: "/batches/{id}/cancel", Title: "Cancel batch", Nav: "batches", method: "CancelBatch", Grave: true, load: loadBatchAct, do: cancelBatch},
	{name: "batch-new", path: "/new/batch", Title: "New batch", Button: "Create batch", Nav: "batches", method: "CreateBatch", Files: true, Check: "Check targets", load: loadNewBatch, do: createBatch},
}

// loadBatchAct loads the batch for a form.
func loadBatchAct(v *visit) (any, error) { return v.batch() }

// Ended returns the number of tasks that have ended.
func (v *visit) Ended(b *fairleadv1.Batch) int64 { return v.tasksIn(b, endedStates).N }

// NotStarted returns the number of tasks that have not started.
func (v *visit) NotStarted(b *fairleadv1.Batch) int64 { return v.tasksIn(b, waitingStates).N }

// InProgress returns the number of running tasks.
func (v *visit) InProgress(b *fairleadv1.Batch) int64 {
	return v.tasksIn(b, runningStates).N
}

// BatchStanding returns what holds a batch back, or otherwise its state.
func (v *visit) BatchStanding(b *fairleadv1.Batch) string {
	switch {
	case b.GetPaused():
		return "paused"
	case b.GetAwaiting():
		return "awaiting"
	}
	return b.GetState()
}

// onBatch performs an action on the form's batch, and returns the notice about the result.
func (v *visit) onBatch(do func(id int64) (*fairleadv1.Batch, error), notice func(*fairleadv1.Batch) string) (done, error) {
	id, err := v.batchID()
	if err != nil {
		return done{}, err
	}
	b, err := do(id)
	if err != nil {
		return done{}, err
	}
	return done{Notice: notice(b)}, nil
}

func approveBatch(v *visit) (done, error) {
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.ApproveBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
	}, func(b *fairleadv1.Batch) string {
		return v.T("The canary of batch %s was approved. The remaining tasks are starting.", b.GetName())
	})
}

func resumeBatch(v *visit) (done, error) {
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.ResumeBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
	}, func(b *fairleadv1.Batch) string { return v.T("Batch %s was resumed.", b.GetName()) })
}

func pauseBatch(v *visit) (done, error) {
	reason := v.fields().text("reason")
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.PauseBatch(v.ctx, &fairleadv1.PauseBatchRequest{Id: id, Reason: reason})
	}, func(b *fairleadv1.Batch) string { return v.T("Batch %s is paused.", b.GetName()) })
}

func cancelBatch(v *visit) (done, error) {
	reason := v.fields().text("reason")
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.CancelBatch(v.ctx, &fairleadv1.CancelBatchRequest{Id: id, Reason: reason})
	}, func(b *fairleadv1.Batch) string {
		return v.N(b.GetTally().GetCancel(), "The batch was cancelled. %s task will not start.", "The batch was cancelled. %s tasks will not start.")
	})
}

func retryBatch(v *visit) (done, error) {
	f := v.fields()
	tasks := f.counts("tasks")
	if err := f.err(); err != nil {
		return done{}, err
	}
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.RetryBatch(v.ctx, &fairleadv1.RetryBatchRequest{Id: id, Tasks: tasks})
	}, func(b *fairleadv1.Batch) string { return v.T("Retrying failed tasks of batch %s.", b.GetName()) })
}

// setBatchPace changes the pace of a batch, unless it was changed since the form was
// opened.
func setBatchPace(v *visit) (done, error) {
	f := v.fields()
	most, rate := f.count("max_running"), f.decimal("rate")
	now, err := v.batch()
	if err != nil {
		return done{}, err
	}
	v.unchanged(f, map[string]any{"max_running": now.GetMaxRunning(), "rate": now.GetRate()})
	if err := f.err(); err != nil {
		return done{}, err
	}
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		return v.batches.PatchBatch(v.ctx, &fairleadv1.PatchBatchRequest{Id: id, MaxRunning: &most, Rate: &rate})
	}, func(b *fairleadv1.Batch) string { return v.T("Pace of batch %s changed.", b.GetName()) })
}
