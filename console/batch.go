package console

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// advice is an important notice on a page, with suggested commands.
type advice struct {
	Tone, Title string
	Text        string // stored reason
	Remedy      string
	Commands    []string
}

// batchPage shows one batch.
type batchPage struct {
	*fairleadv1.Batch
	Notices []advice
	States  []taskCount
	Cells   []cell
	PerCell int64 // number of tasks per cell
	Groups  []errorGroup
	More    bool // whether there are more failed tasks than were read
	Calls   []string
	Notify  string
}

// taskCount is the number of tasks in a state.
type taskCount struct {
	State string
	Count count
}

func loadBatch(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	b, err := v.batch()
	if err != nil {
		return nil, err
	}
	page := &batchPage{Batch: b, Notices: v.batchNotices(b), Notify: withoutUserinfo(b.GetNotify())}
	for _, state := range taskStates {
		n := v.tasksIn(b, []string{state})
		if n.N > 0 || slices.Contains([]string{"success", "fail", "running", "pending"}, state) {
			page.States = append(page.States, taskCount{state, n})
		}
	}
	for _, then := range b.GetThen() {
		page.Calls = append(page.Calls, then.GetJob().GetKind())
	}
	if page.Cells, page.PerCell, err = v.taskCells(b); err != nil {
		return nil, err
	}
	page.Groups, page.More, err = v.taskGroups(b)
	return page, err
}

// batch returns the batch in the path.
func (v *visit) batch() (*fairleadv1.Batch, error) {
	id, err := v.batchID()
	if err != nil {
		return nil, err
	}
	return v.batches.GetBatch(v.ctx, &fairleadv1.GetBatchRequest{Id: id})
}

// batchID returns the ID in the path.
func (v *visit) batchID() (int64, error) {
	id, is := number(v.Value("id"))
	if !is {
		return 0, connect.NewError(connect.CodeNotFound, errors.New(v.T("A batch ID must be a number.")))
	}
	return id, nil
}

// batchNotices returns what a batch waits for, with suggested commands.
func (v *visit) batchNotices(b *fairleadv1.Batch) (all []advice) {
	command := func(verb string) string { return fmt.Sprintf("fairlead batch %s %d", verb, b.GetId()) }
	switch {
	case b.GetPaused():
		all = append(all, advice{
			Tone: "held", Title: v.T("The batch is paused. No tasks will start until it is resumed."), Text: b.GetReason(),
			Remedy: v.T("Fix the cause, then resume the batch. This resets the failure count."), Commands: []string{command("resume")},
		})
	case b.GetAwaiting():
		all = append(all, advice{
			Tone: "held", Title: v.T("The canary has finished. The remaining tasks are waiting for approval."), Text: b.GetReason(),
			Remedy: v.T("Review the canary tasks, then approve the canary or cancel the batch."), Commands: []string{command("approve"), command("cancel")},
		})
	}
	if n := b.GetDoubtful(); n > 0 {
		all = append(all, advice{
			Tone: "bad", Title: v.N(n, "%s task is doubtful: it may have run even though the database lost the record.", "%s tasks are doubtful: they may have run even though the database lost the records."),
			Text:   v.T("The recorded previous state of their targets may already include the change, and a rollback would then restore the wrong state."),
			Remedy: v.T("Compare their targets with the recorded previous state."), Commands: []string{command("tasks") + " --doubtful"},
		})
	}
	switch b.GetState() {
	case "fail", "partial_fail":
		all = append(all, advice{
			Tone: "bad", Title: v.T("The batch completed with failed tasks."),
			Remedy: v.T("Retry the failed tasks, or preview a rollback."), Commands: []string{command("retry"), command("rollback") + " --dry-run"},
		})
	case "rollback_fail":
		all = append(all, advice{
			Tone: "bad", Title: v.T("Some tasks could not be rolled back."), Text: v.undone(b),
			Remedy: v.T("Fix the cause, then roll back again to process the remaining tasks."), Commands: []string{command("rollback")},
		})
	case "rollback_pending", "rollback_running":
		all = append(all, advice{Tone: "held", Title: v.T("The batch is being rolled back."), Text: v.undone(b)})
	case "rollback_success":
		all = append(all, advice{Tone: "undone", Title: v.T("The batch was rolled back."), Text: v.undone(b)})
	case "cancel":
		all = append(all, advice{Tone: "off", Title: v.T("The batch was cancelled. No more tasks will start."), Text: b.GetReason()})
	}
	return all
}

// taskCells returns the cells of the grid: one for each task of a small batch, otherwise
// cells in proportion to the tally.
func (v *visit) taskCells(b *fairleadv1.Batch) (cells []cell, perCell int64, err error) {
	if b.GetTotal() <= gridCells {
		tasks, err := v.batches.ListBatchTasks(v.ctx, &fairleadv1.ListBatchTasksRequest{Id: b.GetId(), PageSize: gridCells})
		for _, task := range tasks.GetItems() {
			cells = append(cells, cell{
				Tone: v.Tone(task.GetState()), Title: targetName(task.GetTarget()) + ": " + v.StateName(task.GetState()),
				Href: v.TaskJob(task), ID: strconv.FormatInt(task.GetId(), 10),
			})
		}
		return cells, 1, err
	}
	var shares []share
	for _, state := range taskStates {
		shares = append(shares, share{state, tallied(b.GetTally(), state)})
	}
	for i, n := range proportions(shares, gridCells) {
		state := shares[i].State
		for range n {
			cells = append(cells, cell{Tone: v.Tone(state), Title: v.StateName(state), Href: v.tasksHref(b.GetId(), []string{state})})
		}
	}
	return cells, int64(b.GetTotal()) / gridCells, nil
}

// targetName returns the display name of a target.
func targetName(target *fairleadv1.Target) string {
	if target.GetName() != "" {
		return target.GetName()
	}
	return target.GetId()
}

// TaskJob returns the link to a task's job, or an empty string if the job may not exist
// yet.
func (v *visit) TaskJob(task *fairleadv1.BatchTask) string {
	switch task.GetState() {
	case "pending", "retry_pending", "rollback_pending", "cancel":
		return ""
	}
	if task.GetJobId() == 0 {
		return ""
	}
	return v.To("/jobs", task.GetJobId())
}

// taskGroups groups the failed tasks of a batch by error. It covers only the tasks on one
// page.
func (v *visit) taskGroups(b *fairleadv1.Batch) (groups []errorGroup, more bool, err error) {
	if v.FailedTasks(b).N == 0 {
		return nil, false, nil
	}
	tasks, err := v.batches.ListBatchTasks(v.ctx, &fairleadv1.ListBatchTasksRequest{Id: b.GetId(), State: failedStates, PageSize: bulkWindow})
	if err != nil {
		return nil, false, err
	}
	var all []failed
	for _, task := range tasks.GetItems() {
		all = append(all, failed{Error: task.GetInfo(), At: moment(task.GetUpdatedAt()), Name: targetName(task.GetTarget()), Href: v.TaskJob(task)})
	}
	groups = groupErrors(all)
	for i := range groups {
		groups[i].Count.Href = v.tasksHref(b.GetId(), failedStates, "like", groups[i].Like, "at_most", bulkWindow)
		groups[i].Count.Tone = "bad"
	}
	return groups, tasks.GetNextPageToken() != "", nil
}
