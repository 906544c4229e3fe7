package console

import (
	"strconv"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// batchList is a page of batches.
type batchList struct {
	Items []*fairleadv1.Batch
	Pages map[string]any
}

func loadBatches(v *visit) (any, error) {
	if err := v.only("open", "tenant", "type", "name", "queue", "page"); err != nil {
		return nil, err
	}
	open, err := v.flag("open")
	if err != nil {
		return nil, err
	}
	answer, err := v.batches.ListBatches(v.ctx, &fairleadv1.ListBatchesRequest{
		Open: open, Tenant: v.All("tenant"), Type: v.All("type"), Name: v.All("name"), Queue: v.All("queue"),
		PageSize: listRows, PageToken: v.Get("page"),
	})
	if err != nil {
		return nil, ofPage(err)
	}
	return &batchList{Items: answer.GetItems(), Pages: v.further(answer.GetNextPageToken())}, nil
}

// batchPath returns the path of a batch's page.
func batchPath(id int64) string { return "/batches/" + strconv.FormatInt(id, 10) }

// taskStates lists the states of tasks in display order: ended, running, not started.
var taskStates = []string{
	"success", "fail", "rollback_success", "rollback_fail", "cancel", "running", "rollback_running", "pending", "retry_pending", "rollback_pending",
}

// endedStates lists the states of ended tasks.
var endedStates = taskStates[:5]

// runningStates lists the states of running tasks.
var runningStates = taskStates[5:7]

// waitingStates lists the states of tasks that have not started.
var waitingStates = taskStates[7:]

// failedStates lists the states of failed tasks.
var failedStates = []string{"fail", "rollback_fail"}

// tallied returns the number of tasks in a state.
func tallied(tally *fairleadv1.Tally, state string) int64 {
	switch state {
	case "pending":
		return int64(tally.GetPending())
	case "running":
		return int64(tally.GetRunning())
	case "success":
		return int64(tally.GetSuccess())
	case "fail":
		return int64(tally.GetFail())
	case "retry_pending":
		return int64(tally.GetRetryPending())
	case "rollback_pending":
		return int64(tally.GetRollbackPending())
	case "rollback_running":
		return int64(tally.GetRollbackRunning())
	case "rollback_success":
		return int64(tally.GetRollbackSuccess())
	case "rollback_fail":
		return int64(tally.GetRollbackFail())
	case "cancel":
		return int64(tally.GetCancel())
	}
	return 0
}

// tasksIn returns the number of a batch's tasks in any of the states.
func (v *visit) tasksIn(b *fairleadv1.Batch, states []string) count {
	c := count{Href: v.tasksHref(b.GetId(), states)}
	for _, state := range states {
		c.N += tallied(b.GetTally(), state)
	}
	if c.N > 0 && len(states) > 0 && v.Tone(states[0]) == "bad" {
		c.Tone = "bad"
	}
	return c
}

// tasksHref returns the link to the tasks of a batch in any of the states.
func (v *visit) tasksHref(batch int64, states []string, more ...any) string {
	var parameters []any
	for _, state := range states {
		parameters = append(parameters, "state", state)
	}
	return v.Href(batchPath(batch)+"/tasks", append(parameters, more...)...)
}

// FailedTasks returns the number of failed tasks in a batch.
func (v *visit) FailedTasks(b *fairleadv1.Batch) count { return v.tasksIn(b, failedStates) }

// EndedTasks returns the number of ended tasks in a batch, with any outcome.
func (v *visit) EndedTasks(b *fairleadv1.Batch) count {
	c := v.tasksIn(b, endedStates)
	c.Tone = ""
	return c
}

// AllTasks returns the number of tasks in a batch.
func (v *visit) AllTasks(b *fairleadv1.Batch) count {
	return count{N: int64(b.GetTotal()), Href: v.tasksHref(b.GetId(), nil)}
}

// BatchBar returns the progress bar of a batch, with one color per type of state.
func (v *visit) BatchBar(b *fairleadv1.Batch) segmented {
	part := func(tone, name string, states ...string) segment {
		s := segment{Tone: tone, Name: name}
		for _, state := range states {
			s.N += tallied(b.GetTally(), state)
		}
		return s
	}
	return segmented{
		Segments: segments(int64(b.GetTotal()),
			part("good", v.T("success"), "success"),
			part("bad", v.T("failed"), failedStates...),
			part("undone", v.T("rollback success"), "rollback_success"),
			part("off", v.T("cancel"), "cancel"),
			part("running", v.T("running"), "running", "rollback_running"),
		),
		Label: v.T("%s of %s tasks done", v.Num(b.GetDone()), v.Num(b.GetTotal())),
	}
}

// Hundredths formats a share as a number of percent.
func (v *visit) Hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', -1, 64) }

// findBatches finds batches by ID and by name: all batches with exactly the name, and the
// newest ones with a similar name.
func findBatches(v *visit, f *finding) error {
	add := func(put func(title, what, href string), b *fairleadv1.Batch) {
		put(b.GetName(), v.T("batch %s", text(b.GetId())), v.Href(batchPath(b.GetId())))
	}
	if id, isNumber := number(f.query); isNumber {
		batch, err := v.batches.GetBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
		if err := found(err); err != nil {
			return err
		}
		if batch != nil {
			add(f.exactly, batch)
		}
	}
	for _, request := range []*fairleadv1.ListBatchesRequest{{Name: []string{f.query}, PageSize: findRows}, {PageSize: findAmong}} {
		list, err := v.batches.ListBatches(v.ctx, request)
		if err := found(err); err != nil {
			return err
		}
		for _, b := range list.GetItems() {
			add(f.named, b)
		}
	}
	return nil
}
