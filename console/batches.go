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

// batchPath is where a batch is shown.
func batchPath(id int64) string { return "/batches/" + strconv.FormatInt(id, 10) }

// States of tasks in the order in which they are shown: what is over, what goes on, what
// is to do.
var taskStates = []string{
	"success", "fail", "rollback_success", "rollback_fail", "cancel", "running", "rollback_running", "pending", "retry_pending", "rollback_pending",
}

// endedStates are those of tasks that have ended.
var endedStates = taskStates[:5]

// runningStates are those of tasks that run.
var runningStates = taskStates[5:7]

// waitingStates are those of tasks that have not started.
var waitingStates = taskStates[7:]

// failedStates are those of tasks that have failed.
var failedStates = []string{"fail", "rollback_fail"}

// tallied is how many tasks are in a state.
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

// tasksIn is how many tasks of a batch are in one of some states.
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

// tasksHref leads to the tasks of a batch in one of some states.
func (v *visit) tasksHref(batch int64, states []string, more ...any) string {
	var parameters []any
	for _, state := range states {
		parameters = append(parameters, "state", state)
	}
	return v.Href(batchPath(batch)+"/tasks", append(parameters, more...)...)
}

// FailedTasks counts the tasks of a batch that have failed.
func (v *visit) FailedTasks(b *fairleadv1.Batch) count { return v.tasksIn(b, failedStates) }

// EndedTasks counts the tasks of a batch that have ended, in whichever way.
func (v *visit) EndedTasks(b *fairleadv1.Batch) count {
	c := v.tasksIn(b, endedStates)
	c.Tone = ""
	return c
}

// AllTasks counts the tasks of a batch.
func (v *visit) AllTasks(b *fairleadv1.Batch) count {
	return count{N: int64(b.GetTotal()), Href: v.tasksHref(b.GetId(), nil)}
}

// BatchBar is how far a batch has come: each colour is a kind of state.
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

// Hundredths is a share of one as a number of hundredths.
func (v *visit) Hundredths(share float64) string { return strconv.FormatFloat(100*share, 'f', -1, 64) }

// findBatches finds batches by their id and by their name.
func findBatches(v *visit, query string) (hits []hit) {
	add := func(b *fairleadv1.Batch) {
		hits = append(hits, hit{Title: b.GetName(), What: v.T("batch %s", strconv.FormatInt(b.GetId(), 10)), Href: v.Href(batchPath(b.GetId()))})
	}
	if id, is := number(query); is {
		if found, err := v.batches.GetBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id}); err == nil {
			add(found)
		}
	}
	if named, err := v.batches.ListBatches(v.ctx, &fairleadv1.ListBatchesRequest{Name: []string{query}, PageSize: findRows}); err == nil {
		for _, b := range named.GetItems() {
			add(b)
		}
	}
	return hits
}

// findRows is how many things of one name are found.
const findRows = 5
