package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var bulkActions = []action{
	{name: "bulk-new", path: "/new/bulk/cancel", Title: "Cancel all", Nav: "bulks", method: "CreateBulk", Grave: true, load: loadBulkForm, do: startBulk},
	{name: "bulk-new", path: "/new/bulk/retry", Title: "Run all again", Nav: "bulks", method: "CreateBulk", load: loadBulkForm, do: startBulk},
	{name: "bulk-new", path: "/new/bulk/run", Title: "Run all now", Nav: "bulks", method: "CreateBulk", load: loadBulkForm, do: startBulk},
	{name: "bulk-new", path: "/new/bulk/delete", Title: "Delete all", Nav: "bulks", method: "CreateBulk", Grave: true, load: loadBulkForm, do: startBulk},
	{name: "bulk-new", path: "/new/bulk/prioritize", Title: "Change priority of all", Nav: "bulks", method: "CreateBulk", load: loadBulkForm, do: startBulk},
	{name: "bulk-new", path: "/new/bulk/move", Title: "Move all to another queue", Nav: "bulks", method: "CreateBulk", load: loadBulkForm, do: startBulk},
	{name: "bulk-stop", path: "/bulks/{id}/stop", Title: "Stop bulk action", Nav: "bulks", method: "StopBulk", Grave: true, load: loadBulkStop, do: stopBulk},
}

// bulkStates lists the states to which actions apply. It determines which buttons are
// shown; the API determines what is done.
var bulkStates = []struct {
	action string
	states []string
}{
	{"retry", []string{"failed", "cancelled"}},
	{"run", []string{"scheduled"}},
	{"prioritize", unfinished},
	{"move", []string{"scheduled", "parked", "ready"}},
	{"cancel", unfinished},
	{"delete", []string{"scheduled", "parked", "ready", "succeeded", "failed", "cancelled", "skipped"}},
}

// bulkButton links to the form for an action on all jobs of a list.
type bulkButton struct{ Action, Href string }

// bulkButtons returns the buttons of a list of jobs. A list with filters that only the
// console supports has none, and neither has a list of all jobs in all states.
func (v *visit) bulkButtons(f *jobFilter) (buttons []bulkButton) {
	if f.text != "" || !f.finishedTo.IsZero() || f.downTo > 0 || f.atMost > 0 || f.Batch+f.Schedule > 0 || len(f.Id) > 0 || len(f.State) == 0 && !f.chooses() {
		return nil
	}
	filter := filterQuery(filterOf(f.ListJobsRequest))
	if f.like != "" {
		filter.Set("like", f.like)
	}
	query := url.Values{"filter": {filter.Encode()}}
	for _, b := range bulkStates {
		if len(f.State) == 0 || slices.ContainsFunc(f.State, func(state string) bool { return slices.Contains(b.states, state) }) {
			buttons = append(buttons, bulkButton{b.action, v.link("/new/bulk/"+b.action, query)})
		}
	}
	return buttons
}

// bulkActionsOn returns the actions that are possible on at least one of some jobs.
func bulkActionsOn(jobs []*fairleadv1.Job) (actions []string) {
	for _, b := range bulkStates {
		if slices.ContainsFunc(jobs, func(job *fairleadv1.Job) bool { return slices.Contains(b.states, job.GetState()) }) {
			actions = append(actions, b.action)
		}
	}
	return actions
}

// filterOf converts the filter of a list of jobs to that of a bulk action.
func filterOf(list *fairleadv1.ListJobsRequest) *fairleadv1.JobFilter {
	return &fairleadv1.JobFilter{
		State: list.GetState(), Kind: list.GetKind(), Queue: list.GetQueue(), Tenant: list.GetTenant(), Key: list.GetKey(), Id: list.GetId(),
		From: list.GetFrom(), To: list.GetTo(), FinishedFrom: list.GetFinishedFrom(),
	}
}

// filterQuery converts a filter to the URL parameters of the list of jobs.
func filterQuery(f *fairleadv1.JobFilter) url.Values {
	query := url.Values{}
	for name, values := range map[string][]string{
		"state": f.GetState(), "kind": f.GetKind(), "queue": f.GetQueue(), "tenant": f.GetTenant(), "key": {f.GetKey()},
		"from": {text(f.GetFrom())}, "to": {text(f.GetTo())}, "finished_from": {text(f.GetFinishedFrom())},
	} {
		for _, value := range values {
			if value != "" {
				query.Add(name, value)
			}
		}
	}
	for _, id := range f.GetId() {
		query.Add("id", text(id))
	}
	return query
}

// bulkForm describes the action and the number of matching jobs.
type bulkForm struct {
	Action  string
	Filter  string // in the form in which it is sent back
	Chosen  []string
	Matched count
}

// loadBulkForm counts the matching jobs.
func loadBulkForm(v *visit) (any, error) {
	ask, raw, err := v.newBulk()
	if err != nil {
		return nil, err
	}
	// The other fields of the form are not needed for counting. They are validated on
	// submission.
	counted := &fairleadv1.NewBulk{Action: ask.GetAction(), Filter: ask.GetFilter(), Cause: ask.GetCause(), DryRun: true}
	if ask.GetAction() == "move" {
		counted.Queue = "default"
	}
	found, err := v.bulks.CreateBulk(v.ctx, counted)
	if err != nil {
		return nil, err
	}
	query := filterQuery(ask.GetFilter())
	if ask.GetCause() != "" {
		query.Set("like", ask.GetCause())
	}
	return &bulkForm{
		Action: ask.GetAction(), Filter: raw, Chosen: v.filterWords(query),
		Matched: count{N: found.GetMatched(), More: found.GetMore(), Href: v.link("/jobs", query)},
	}, nil
}

// filterWords describes the filter of a list of jobs, one condition per string.
func (v *visit) filterWords(query url.Values) (words []string) {
	if n := len(query["id"]); n > 0 {
		words = append(words, v.N(n, "%s selected job", "%s selected jobs"))
	}
	for _, by := range []struct{ name, label string }{
		{"state", v.T("State")}, {"kind", v.T("Kind")}, {"queue", v.T("Queue")}, {"tenant", v.T("Tenant")}, {"key", v.T("Key")},
		{"from", v.T("Created after")}, {"to", v.T("Created before")}, {"finished_from", v.T("Finished after")}, {"like", v.T("Error")},
	} {
		for _, value := range query[by.name] {
			words = append(words, v.T("%s: %s", by.label, v.chosen(by.name, value)))
		}
	}
	return words
}

// chosen describes a filter parameter in words.
func (v *visit) chosen(name, value string) string {
	switch name {
	case "state":
		return v.StateName(value)
	case "from", "to", "finished_from":
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return at.In(v.Zone).Format("2006-01-02 15:04:05 MST")
		}
	}
	return value
}

// newBulk returns the request for the form, with the filter of the list that contains the
// button.
func (v *visit) newBulk() (*fairleadv1.NewBulk, string, error) {
	raw := v.Get("filter")
	if ids := v.All("id"); raw == "" && len(ids) > 0 { // selected rows
		raw = url.Values{"id": ids}.Encode()
	}
	if sent := v.posted.Get("filter"); sent != "" {
		raw = sent
	}
	query, err := url.ParseQuery(raw)
	if err != nil || raw == "" {
		return nil, "", refuse("filter", v.T("must specify which jobs to change; start from the jobs page"))
	}
	listed := *v
	listed.Query = query
	f, err := listed.jobFilter()
	if err != nil {
		return nil, "", err
	}
	if f.text != "" || f.downTo > 0 || f.atMost > 0 || f.Batch+f.Schedule > 0 || f.PageToken != "" {
		return nil, "", refuse("filter", v.T("contains a filter that bulk actions do not support; use state, kind, queue, tenant, key, like and times"))
	}
	return &fairleadv1.NewBulk{Action: v.Path[strings.LastIndexByte(v.Path, '/')+1:], Filter: filterOf(f.ListJobsRequest), Cause: f.like}, raw, nil
}

func startBulk(v *visit) (done, error) {
	ask, _, err := v.newBulk()
	if err != nil {
		return done{}, err
	}
	f := v.fields()
	ask.Reason, ask.Rate = f.text("reason"), f.decimal("rate")
	switch ask.GetAction() {
	case "prioritize":
		ask.Priority = f.integer("priority")
	case "move":
		ask.Queue = f.text("queue")
	}
	if err := f.err(); err != nil {
		return done{}, err
	}
	bulk, err := v.bulks.CreateBulk(v.ctx, ask)
	if err != nil {
		return done{}, err
	}
	return done{Notice: v.T("The bulk action has started. It continues even if you close this page."), To: "/bulks/" + text(bulk.GetId())}, nil
}

func loadBulkStop(v *visit) (any, error) { return v.bulkOf() }

func stopBulk(v *visit) (done, error) {
	bulk, err := v.bulkOf()
	if err != nil {
		return done{}, err
	}
	_, err = v.bulks.StopBulk(v.ctx, &fairleadv1.GetBulkRequest{Id: bulk.GetId()})
	return done{Notice: v.T("The bulk action will stop before its next step. Jobs that have not been processed stay unchanged.")}, err
}
