package console

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// sweepPage shows one sweep.
type sweepPage struct {
	*fairleadv1.Sweep
	Notices      []advice
	Args, Origin []byte // documents; nil = none
	Shards       []shardRow
	AllShards    int
	BudgetKnown  bool
	BudgetLeft   int64
	Budget       string
	Figures      string // data of the chart of rates; empty = it is not running
	Series       string
	Groups       []errorGroup
	More         bool // whether there are more failed items than were read
	Log          []*fairleadv1.SweepLog
	Events       []*fairleadv1.SweepEvent
}

// sweepLines is the number of log and history lines on the page of a sweep.
const sweepLines = 10

func loadSweep(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	s, err := v.sweep()
	if err != nil {
		return nil, err
	}
	page := &sweepPage{Sweep: s, Notices: v.sweepNotices(s), Budget: v.budgetText(s.GetErrorBudget()), Args: withoutUserinfo(s.GetArgs())}
	if page.Origin, err = sourceDocument(s.GetSource()); err != nil {
		return nil, err
	}
	if page.Shards, page.AllShards, err = v.shardRows(s); err != nil {
		return nil, err
	}
	if s.GetState() == "running" || s.GetState() == "stopping" {
		if page.Figures, page.Series, err = v.rates(s); err != nil {
			return nil, err
		}
	}
	lines, err := v.sweeps.ListSweepLogs(v.ctx, &fairleadv1.ListSweepLogsRequest{Id: s.GetId(), PageSize: sweepLines})
	if err != nil {
		return nil, err
	}
	events, err := v.sweeps.ListSweepHistory(v.ctx, &fairleadv1.ListSweepHistoryRequest{Id: s.GetId(), PageSize: listRows})
	if err != nil {
		return nil, err
	}
	page.Log, page.Events = lines.GetItems(), events.GetItems()
	failures, err := v.sweeps.ListFailedItems(v.ctx, &fairleadv1.ListFailedItemsRequest{Id: s.GetId(), PageSize: bulkWindow})
	if err != nil {
		return nil, err
	}
	page.More = failures.GetNextPageToken() != ""
	page.Groups = v.itemGroups(s, failures.GetItems())
	page.BudgetLeft, page.BudgetKnown = budgetLeft(s, failures.GetItems(), !page.More, lastStart(page.Events))
	page.Events = page.Events[:min(len(page.Events), sweepLines)]
	return page, nil
}

// sweep returns the sweep in the path, by ID or name.
func (v *visit) sweep() (*fairleadv1.Sweep, error) {
	return v.sweeps.GetSweep(v.ctx, &fairleadv1.GetSweepRequest{Id: v.Value("id")})
}

// sweepNotices returns what a sweep waits for, with suggested commands.
func (v *visit) sweepNotices(s *fairleadv1.Sweep) []advice {
	command := func(verb string) string { return fmt.Sprintf("fairlead sweep %s %s", verb, s.GetId()) }
	failed := s.GetProgress().GetAbandoned() > 0
	switch s.GetState() {
	case "created":
		return []advice{{Tone: "later", Title: v.T("The sweep has not been started."), Remedy: v.T("Start it:"), Commands: []string{command("start")}}}
	case "waiting":
		return []advice{{
			Tone: "held", Title: v.T("The sweep is waiting at its gate. The business system was notified and must open it."), Text: withoutUserinfo(s.GetGate().GetBeforeRun()),
			Remedy:   v.T("The notification is repeated every %s. If the business system cannot open the gate, open it manually:", v.Dur(s.GetGate().GetTimeout())),
			Commands: []string{command("open")},
		}}
	case "stopping":
		return []advice{{Tone: "held", Title: v.T("The sweep is stopping. No more items will start; items in flight will finish."), Text: s.GetReason()}}
	case "stopped":
		n := advice{
			Tone: "held", Title: v.T("The sweep was stopped and can resume where it stopped."), Text: s.GetReason(),
			Remedy: v.T("Fix the cause, then start it again:"), Commands: []string{command("start")},
		}
		if failed {
			n.Remedy, n.Commands = v.T("Fix the cause, then start it again, or retry the failed items first:"), append(n.Commands, command("retry"))
		}
		return []advice{n}
	case "finished":
		if failed {
			return []advice{{Tone: "bad", Title: v.T("The sweep finished with failed items."), Remedy: v.T("Fix the cause, then retry them:"), Commands: []string{command("retry")}}}
		}
	}
	return nil
}

// budgetText describes an error budget.
func (v *visit) budgetText(budget *fairleadv1.ErrorBudget) string {
	var parts []string
	if n := budget.GetItems(); n > 0 {
		parts = append(parts, v.N(n, "%s item", "%s items"))
	}
	if budget.GetPercent() > 0 {
		parts = append(parts, strconv.FormatFloat(budget.GetPercent(), 'f', -1, 64)+" %")
	}
	if n := budget.GetPerMinute(); n > 0 {
		parts = append(parts, v.T("%s per minute", v.Num(n)))
	}
	return strings.Join(parts, ", ")
}

// sourceDocument returns the source of a sweep's items as a document without passwords.
func sourceDocument(source *fairleadv1.ItemSource) ([]byte, error) {
	if source == nil {
		return nil, nil
	}
	type table struct {
		Database string   `json:"database"`
		Name     string   `json:"name"`
		Key      string   `json:"key"`
		Columns  []string `json:"columns,omitempty"`
	}
	shown := struct {
		File  string `json:"file,omitempty"`
		URL   string `json:"url,omitempty"`
		Table *table `json:"table,omitempty"`
		Items int64  `json:"listed,omitempty"`
	}{File: source.GetFile(), URL: withoutUserinfo(source.GetUrl()), Items: source.GetListed()}
	if t := source.GetTable(); t != nil {
		shown.Table = &table{t.GetDatabase(), t.GetName(), t.GetKey(), t.GetColumns()}
	}
	return json.Marshal(shown)
}

// rates returns the data of the chart of a sweep's rate. All viewers with access to a sweep
// see the same data.
func (v *visit) rates(s *fairleadv1.Sweep) (figures, series string, err error) {
	set := s.GetRate()
	if set == 0 {
		set = math.NaN()
	}
	return v.chart("sweep\x00"+s.GetId(), []string{v.T("items per second"), v.T("set rate")}, s.GetProgress().GetRate(), set)
}

// itemGroups groups failed items by error.
func (v *visit) itemGroups(s *fairleadv1.Sweep, items []*fairleadv1.FailedItem) []errorGroup {
	var all []failed
	for _, item := range items {
		all = append(all, failed{Error: item.GetError(), At: moment(item.GetAt()), Name: v.T("item %s", v.Num(item.GetIndex()))})
	}
	groups := groupErrors(all)
	for i := range groups {
		groups[i].Count.Href = v.Href(sweepPath(s)+"/failed", "like", groups[i].Like, "at_most", bulkWindow)
		groups[i].Count.Tone = "bad"
	}
	return groups
}
