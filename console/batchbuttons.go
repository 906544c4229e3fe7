package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// batchButtons lists the buttons of batches, in order.
var batchButtons = []button[*fairleadv1.Batch]{
	{"approve", "ApproveBatch", "Approve", true, (*fairleadv1.Batch).GetAwaiting},
	{"resume", "ResumeBatch", "Resume", true, (*fairleadv1.Batch).GetPaused},
	{"pause", "PauseBatch", "Pause", true, func(b *fairleadv1.Batch) bool { return incomplete(b) && !b.GetPaused() }},
	{"pace", "PatchBatch", "Pace", false, incomplete},
	{"retry", "RetryBatch", "Retry failures", true, retryable},
	{"rollback", "RollBackBatch", "Roll back", false, undoable},
	{"cancel", "CancelBatch", "Cancel", false, func(b *fairleadv1.Batch) bool { return incomplete(b) && forward(b) }},
}

// BatchButtons returns the buttons for a batch in its current state.
func (v *visit) BatchButtons(b *fairleadv1.Batch) []button[*fairleadv1.Batch] {
	return offered(batchButtons, b)
}

// incomplete reports whether a batch has not completed.
func incomplete(b *fairleadv1.Batch) bool { return b.GetEndedAt() == nil }

// forward reports whether a batch was neither cancelled nor rolled back.
func forward(b *fairleadv1.Batch) bool {
	return slices.Contains([]string{"pending", "running", "success", "fail", "partial_fail"}, b.GetState())
}

// retryable reports whether a batch has failed tasks that can be retried.
func retryable(b *fairleadv1.Batch) bool { return forward(b) && b.GetTally().GetFail() > 0 }

// undoable reports whether tasks of a batch were applied, or may yet be, and are not being
// rolled back.
func undoable(b *fairleadv1.Batch) bool {
	tally := b.GetTally()
	switch b.GetState() {
	case "rollback_pending", "rollback_running", "pending":
		return false
	case "rollback_success":
		return tally.GetFail() > 0
	}
	return tally.GetSuccess()+tally.GetRollbackFail()+tally.GetFail()+tally.GetRunning() > 0
}
