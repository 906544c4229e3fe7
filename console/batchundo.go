package console

import (
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// undoForm describes the current effect of a rollback.
type undoForm struct {
	*fairleadv1.Batch
	Total  int64                   // number of tasks that would be undone
	Failed int64                   // failed tasks that would also be undone with that option
	First  []*fairleadv1.BatchTask // first tasks that would be undone, in order
	More   bool                    // whether there are more of them
	Left   []leftTasks
}

// leftTasks counts tasks that a rollback does not undo.
type leftTasks struct {
	N   int64
	Why string
}

// undoShown limits the number of tasks that the form shows.
const undoShown = 5

func loadRollBack(v *visit) (any, error) {
	b, err := v.batch()
	if err != nil {
		return nil, err
	}
	form := &undoForm{Batch: b}
	var planned []*fairleadv1.BatchTask
	form.Total, planned, err = v.wouldUndo(b.GetId(), false)
	if err != nil {
		return nil, err
	}
	halted := int64(0)
	for _, task := range planned {
		if task.GetState() == "cancel" {
			halted++
		}
	}
	form.First = planned[:min(len(planned), undoShown)]
	all, _, err := v.wouldUndo(b.GetId(), true)
	if err != nil {
		return nil, err
	}
	form.More, form.Failed = form.Total > int64(len(form.First)), all-form.Total
	form.Left = v.leftByRollBack(b, form.Failed, halted)
	return form, nil
}

// wouldUndo returns the number of tasks that a rollback would undo now, and the first of
// them. The number is zero if the API would refuse the rollback.
func (v *visit) wouldUndo(id int64, failed bool) (n int64, first []*fairleadv1.BatchTask, err error) {
	plan, err := v.batches.RollBackBatch(v.ctx, &fairleadv1.RollBackBatchRequest{Id: id, IncludeFailed: failed, DryRun: true})
	if connect.CodeOf(err) == connect.CodeFailedPrecondition {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	return int64(plan.GetWouldUndoTotal()), plan.GetWouldUndo(), nil
}

// leftByRollBack returns the tasks that a rollback leaves unchanged, with reasons. halted
// is the number of tasks that were cancelled after they had started, which are undone.
func (v *visit) leftByRollBack(b *fairleadv1.Batch, failed, halted int64) (left []leftTasks) {
	tally := b.GetTally()
	for _, some := range []leftTasks{
		{int64(tally.GetRunning()), v.T("running: allowed to finish, then rolled back if they succeed")},
		{v.NotStarted(b), v.T("not started: cancelled, nothing to roll back")},
		{failed, v.T("failed: rolled back only if you select the option below")},
		{int64(tally.GetCancel()) - halted, v.T("cancelled before they started")},
		{int64(tally.GetRollbackSuccess()), v.T("already rolled back")},
	} {
		if some.N > 0 {
			left = append(left, some)
		}
	}
	return left
}

// undone describes what a rollback has done so far.
func (v *visit) undone(b *fairleadv1.Batch) string {
	tally := b.GetTally()
	ahead := tally.GetRollbackPending() + tally.GetRollbackRunning()
	var parts []string
	for _, part := range []struct {
		n    int32
		text string
	}{
		{tally.GetRollbackSuccess(), v.N(tally.GetRollbackSuccess(), "%s task was rolled back", "%s tasks were rolled back")},
		{ahead, v.N(ahead, "%s not yet rolled back", "%s not yet rolled back")},
		{tally.GetRollbackFail(), v.T("%s could not be rolled back", v.Num(tally.GetRollbackFail()))},
		{tally.GetFail(), v.N(tally.GetFail(), "%s had failed and was left unchanged", "%s had failed and were left unchanged")},
		{tally.GetCancel(), v.T("%s had not started", v.Num(tally.GetCancel()))},
	} {
		if part.n > 0 {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(parts, " · ")
}

func rollBackBatch(v *visit) (done, error) {
	f := v.fields()
	request := &fairleadv1.RollBackBatchRequest{IncludeFailed: f.ticked("include_failed"), Serial: f.ticked("serial")}
	return v.onBatch(func(id int64) (*fairleadv1.Batch, error) {
		request.Id = id
		return v.batches.RollBackBatch(v.ctx, request)
	}, func(b *fairleadv1.Batch) string { return v.T("Batch %s is being rolled back.", b.GetName()) })
}
