package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cause"
)

// taskList is a page of a batch's tasks.
type taskList struct {
	Batch *fairleadv1.Batch
	Items []*fairleadv1.BatchTask
	Pages map[string]any
	looked
}

// looked describes the part of a list that a page has read.
type looked struct {
	Like   string // only rows with a similar error; empty = all
	AtMost int    // number of rows that were read; zero = unlimited
	More   bool   // whether there are rows after the limit
}

func loadBatchTasks(v *visit) (any, error) {
	if err := v.only("state", "doubtful", "like", "at_most", "page"); err != nil {
		return nil, err
	}
	view, size, err := v.look()
	if err != nil {
		return nil, err
	}
	list := &taskList{looked: view}
	if list.Batch, err = v.batch(); err != nil {
		return nil, err
	}
	answer, err := v.batches.ListBatchTasks(v.ctx, &fairleadv1.ListBatchTasksRequest{
		Id: list.Batch.GetId(), State: v.All("state"), Doubtful: v.Get("doubtful") != "", PageSize: size, PageToken: v.Get("page"),
	})
	if err != nil {
		return nil, ofPage(err)
	}
	list.Items, list.More, list.Pages = answer.GetItems(), answer.GetNextPageToken() != "", v.further(list.nextOf(answer.GetNextPageToken()))
	if list.Like != "" {
		list.Items = slices.DeleteFunc(slices.Clone(list.Items), func(task *fairleadv1.BatchTask) bool { return cause.Of(task.GetInfo()) != list.Like })
	}
	return list, nil
}

// look returns how much of a list to read, and the number of rows per query. Rows with
// similar errors are searched in one window, because the groups that link here were built
// from one.
func (v *visit) look() (looked, int32, error) {
	bound, err := v.atMost()
	view := looked{Like: v.Get("like"), AtMost: bound}
	switch {
	case err != nil:
		return view, 0, err
	case bound == 0 && view.Like != "":
		view.AtMost = bulkWindow
	case bound == 0:
		return view, listRows, nil
	}
	if v.Get("page") != "" {
		return view, 0, refuse("page", v.T("cannot be combined with like or at_most, which show a single page"))
	}
	return view, int32(view.AtMost), nil
}

// nextOf returns the token of the next page. A limited list has none.
func (l looked) nextOf(token string) string {
	if l.AtMost > 0 {
		return ""
	}
	return token
}

// TaskStates returns all states of tasks, for the filter.
func (v *visit) TaskStates() []string { return taskStates }
