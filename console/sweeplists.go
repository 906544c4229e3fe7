package console

import (
	"slices"
	"strconv"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/cause"
)

// sweepRows is a page of a sweep's failed items, log lines or events.
type sweepRows[T any] struct {
	Sweep *fairleadv1.Sweep
	Items []T
	Pages map[string]any
	looked
}

func loadSweepFailed(v *visit) (any, error) {
	if err := v.only("like", "at_most", "page"); err != nil {
		return nil, err
	}
	view, size, err := v.look()
	if err != nil {
		return nil, err
	}
	list := &sweepRows[*fairleadv1.FailedItem]{looked: view}
	if list.Sweep, err = v.sweep(); err != nil {
		return nil, err
	}
	answer, err := v.sweeps.ListFailedItems(v.ctx, &fairleadv1.ListFailedItemsRequest{Id: list.Sweep.GetId(), PageSize: size, PageToken: v.Get("page")})
	if err != nil {
		return nil, ofPage(err)
	}
	list.Items, list.More, list.Pages = answer.GetItems(), answer.GetNextPageToken() != "", v.further(list.nextOf(answer.GetNextPageToken()))
	if list.Like != "" {
		list.Items = slices.DeleteFunc(slices.Clone(list.Items), func(item *fairleadv1.FailedItem) bool { return cause.Of(item.GetError()) != list.Like })
	}
	return list, nil
}

// logLevels lists all levels of log lines, for the filter.
var logLevels = []string{"debug", "info", "warn", "error"}

// LogLevels returns logLevels for templates.
func (v *visit) LogLevels() []string { return logLevels }

func loadSweepLog(v *visit) (any, error) {
	if err := v.only("level", "index", "page"); err != nil {
		return nil, err
	}
	request := &fairleadv1.ListSweepLogsRequest{Level: v.All("level"), PageSize: listRows, PageToken: v.Get("page")}
	if given := v.Get("index"); given != "" {
		index, err := strconv.ParseInt(given, 10, 64)
		if err != nil || index < 0 {
			return nil, refuse("index", v.T("must be an item number such as 17"))
		}
		request.Index = &index
	}
	sweep, err := v.sweep()
	if err != nil {
		return nil, err
	}
	request.Id = sweep.GetId()
	answer, err := v.sweeps.ListSweepLogs(v.ctx, request)
	if err != nil {
		return nil, ofPage(err)
	}
	return &sweepRows[*fairleadv1.SweepLog]{Sweep: sweep, Items: answer.GetItems(), Pages: v.further(answer.GetNextPageToken())}, nil
}

func loadSweepHistory(v *visit) (any, error) {
	if err := v.only("page"); err != nil {
		return nil, err
	}
	sweep, err := v.sweep()
	if err != nil {
		return nil, err
	}
	answer, err := v.sweeps.ListSweepHistory(v.ctx, &fairleadv1.ListSweepHistoryRequest{Id: sweep.GetId(), PageSize: listRows, PageToken: v.Get("page")})
	if err != nil {
		return nil, ofPage(err)
	}
	return &sweepRows[*fairleadv1.SweepEvent]{Sweep: sweep, Items: answer.GetItems(), Pages: v.further(answer.GetNextPageToken())}, nil
}

// ActionName returns the display name of an action on a sweep.
func (v *visit) ActionName(action string) string {
	switch action {
	case "create":
		return v.T("Sweep created")
	case "set":
		return v.T("Settings changed")
	case "renew":
		return v.T("Restarted")
	case "start":
		return v.T("Sweep started")
	case "retry":
		return v.T("Failed items retried")
	case "open":
		return v.T("Gate opened")
	case "stop":
		return v.T("Stop requested")
	case "stopped":
		return v.T("Stopped")
	case "finish":
		return v.T("Finished")
	case "data":
		return v.T("Arguments changed")
	}
	return action
}
