package console

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	concernHeld = 5           // maximum number of listed causes of each code
	concernWait = time.Minute // minimum duration of holds other than missing nodes
	heldCounted = 1000        // maximum number of counted jobs of a cause
	holdReads   = 11          // maximum number of pages of open holds; there are at most 10,000 holds
)

// heldJobs returns the causes that keep ready and parked jobs waiting. One of them covers
// every job that waits for something other than its turn; pauses have separate concerns.
func (v *visit) heldJobs(o *overview) ([]concern, error) {
	if v.Unbound() && len(o.Living()) == 0 {
		return v.noNodes(o), nil // without a node, holds are not recorded
	}
	open, recorded, err := v.openHolds()
	if err != nil {
		return nil, err
	}
	if !recorded && v.Unbound() {
		return v.unhandledKinds(o)
	}
	var all []concern
	for _, code := range []string{"no_node", "at_cap", "over_rate", "at_gate", "no_slot"} {
		causes := v.causesOf(code, open)
		for _, hold := range causes[:min(len(causes), concernHeld)] {
			one, err := v.heldConcern(o, hold)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		if more := len(causes) - concernHeld; more > 0 {
			all = append(all, concern{
				ID: "held-more-" + code, State: "paused", Href: v.Href("/holds", "last", "1h"),
				Text:   v.T("%s: %s", v.StateName(code), v.N(more, "%s more cause", "%s more causes")),
				Remedy: v.T("The page of wait reasons lists all causes."), Acts: []act{{Href: v.Href("/holds", "last", "1h"), Label: v.T("Wait reasons")}},
			})
		}
	}
	return all, nil
}

// noNodes returns the concern about ready jobs while no node is live.
func (v *visit) noNodes(o *overview) []concern {
	if o.Usage.GetReady() == 0 {
		return nil
	}
	c := v.jobsIn("ready", o.Usage.GetReady())
	return []concern{{
		ID: "no-nodes", State: "failed", Text: v.T("No node is running. Ready jobs:"), Count: &c, Href: v.Href("/nodes"),
		Remedy: v.T("Start a program that runs jobs, such as fairlead serve, or cancel the jobs."),
		Acts:   []act{v.cancelAct("state", "ready")},
	}}
}

// openHolds returns the holds that are in effect, oldest first, and whether holds are
// recorded at all. Viewers who are bound to tenants see the holds of a parent only if they
// ask for one of its tenants.
func (v *visit) openHolds() (open []*fairleadv1.Hold, recorded bool, err error) {
	known := map[int64]bool{}
	for _, tenant := range append([]string{""}, v.Tenants[:min(len(v.Tenants), concernHeld)]...) {
		from := v.Now.Add(-time.Minute).Truncate(time.Minute) // so that viewers share the response
		ask := &fairleadv1.ListHoldsRequest{From: timestamppb.New(from), PageSize: holdRows, Tenant: tenant}
		for range holdReads {
			found, err := v.holds.ListHolds(v.ctx, ask)
			if err != nil {
				return nil, false, err
			}
			recorded = found.GetSince() != nil
			for _, hold := range found.GetItems() {
				if hold.GetUntil() == nil && !known[hold.GetId()] {
					known[hold.GetId()] = true
					open = append(open, hold)
				}
			}
			if ask.PageToken = found.GetNextPageToken(); ask.GetPageToken() == "" {
				break
			}
		}
	}
	slices.SortFunc(open, func(a, b *fairleadv1.Hold) int {
		return cmp.Or(moment(a.GetFrom()).Compare(moment(b.GetFrom())), cmp.Compare(a.GetId(), b.GetId()))
	})
	return open, recorded, nil
}

// causesOf returns the holds of a code that are concerns, one for all gates of a tenant and
// kind.
func (v *visit) causesOf(code string, open []*fairleadv1.Hold) (causes []*fairleadv1.Hold) {
	type cause struct{ scope, queue, tenant, kind string }
	known := map[cause]bool{}
	for _, hold := range open {
		if hold.GetCode() != code || code != "no_node" && v.Now.Sub(moment(hold.GetFrom())) < concernWait {
			continue
		}
		of := cause{hold.GetScope(), hold.GetQueue(), hold.GetTenant(), hold.GetKind()}
		if !known[of] {
			known[of] = true
			causes = append(causes, hold)
		}
	}
	return causes
}

// heldConcern returns the concern about the jobs that a hold keeps waiting.
func (v *visit) heldConcern(o *overview, hold *fairleadv1.Hold) (concern, error) {
	one := concern{ID: "held-" + text(hold.GetId()), State: "paused", Href: v.Href("/holds", "last", "1h", "queue", hold.GetQueue(), "tenant", hold.GetTenant(), "kind", hold.GetKind())}
	state := "ready"
	who, since := v.holdName(hold), v.Dur(rounded(v.Now.Sub(moment(hold.GetFrom()))))
	switch hold.GetCode() {
	case "no_node":
		one.State = "failed"
		one.Text = v.T("No live node runs kind %s in queue %s. Waiting jobs:", hold.GetKind(), hold.GetQueue())
		one.Remedy = v.T("Start a program that handles this kind in this queue, or cancel the jobs.")
		one.Acts = []act{v.cancelAct("state", "ready", "kind", hold.GetKind(), "queue", hold.GetQueue()), {Href: v.Href("/nodes"), Label: v.T("Nodes")}}
	case "at_cap":
		one.Text = v.T("At the cap for %s: %s. Waiting jobs:", since, who)
		one.Remedy = v.T("Jobs start when others finish. Raise the cap to start more; its form previews the effect.")
		one.Acts = v.limitActs(hold.GetScope(), holdOwner(hold), v.T("Raise the cap"))
	case "over_rate":
		one.Text = v.T("At the start rate for %s: %s. Waiting jobs:", since, who)
		one.Remedy = v.T("Jobs start as fast as the rate permits. Raise the rate to start them earlier; its form previews the effect.")
		one.Acts = v.limitActs(hold.GetScope(), holdOwner(hold), v.T("Raise the rate"))
	case "at_gate":
		state = "parked"
		one.Text = v.T("Waiting for their concurrency keys for %s: kind %s, tenant %s. Parked jobs:", since, hold.GetKind(), hold.GetTenant())
		one.Remedy = v.T("Jobs with the same concurrency key run one after the other. The limit of the kind can allow more at once.")
		one.Acts = v.limitActs("kind", hold.GetKind(), v.T("Allow more"))
	case "no_slot":
		one.Text = v.T("All slots busy for %s: kind %s in queue %s. Waiting jobs:", since, hold.GetKind(), hold.GetQueue())
		one.Remedy = v.T("Jobs start when a slot becomes free. Add nodes or slots to start them earlier.")
		one.Acts = []act{{Href: v.Href("/nodes"), Label: v.T("Nodes")}}
	}
	if hold.GetScope() == "tenant" && hold.GetTenant() == "" { // a parent that the viewer may not see
		one.Acts, one.Href = nil, v.Href("/holds", "last", "1h")
		return one, nil
	}
	c, err := v.heldCount(state, v.heldFilter(o, hold)...)
	one.Count = &c
	return one, err
}

// heldFilter selects the jobs that a hold concerns, as parameters of the list of jobs.
func (v *visit) heldFilter(o *overview, hold *fairleadv1.Hold) (filter []any) {
	filter = []any{"queue", hold.GetQueue(), "kind", hold.GetKind(), "tenant", hold.GetTenant()}
	for _, usage := range o.usages {
		if hold.GetScope() == "tenant" && usage.GetTenant() == hold.GetTenant() {
			for _, child := range usage.GetFamily().GetChildren() {
				filter = append(filter, "tenant", child)
			}
		}
	}
	return filter
}

// heldCount counts the jobs in a state that a filter selects, and links to them.
func (v *visit) heldCount(state string, filter ...any) (count, error) {
	request := &fairleadv1.CountJobsRequest{State: []string{state}, AtMost: heldCounted}
	for i := 0; i+1 < len(filter); i += 2 {
		if value := text(filter[i+1]); value != "" {
			switch filter[i] {
			case "queue":
				request.Queue = append(request.Queue, value)
			case "kind":
				request.Kind = append(request.Kind, value)
			case "tenant":
				request.Tenant = append(request.Tenant, value)
			}
		}
	}
	return v.counted(request, append([]any{"state", state}, filter...)...)
}

// holdOwner returns the name of the queue, tenant or kind whose limit causes a hold.
func holdOwner(hold *fairleadv1.Hold) string {
	switch hold.GetScope() {
	case "queue":
		return hold.GetQueue()
	case "tenant":
		return hold.GetTenant()
	case "kind":
		return hold.GetKind()
	}
	return ""
}

// unhandledKinds returns the kinds of the newest ready jobs that no live node handles. It
// is a substitute where holds are not recorded.
func (v *visit) unhandledKinds(o *overview) (all []concern, err error) {
	ready, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{State: []string{"ready"}, PageSize: concernReady})
	if err != nil {
		return nil, err
	}
	handled := map[string]bool{}
	for _, node := range o.Nodes {
		for _, kind := range node.GetKinds() {
			handled[kind] = handled[kind] || !node.GetDead()
		}
	}
	var foreign []*fairleadv1.Job
	for _, job := range ready.GetItems() {
		if !handled[job.GetKind()] {
			foreign = append(foreign, job)
		}
	}
	for _, kind := range commonKinds(foreign) {
		c := v.countedAmong(ready, kind, "state", "ready", "kind", kind)
		all = append(all, concern{
			ID: "unhandled-" + kind, State: "failed", Text: v.T("No live node handles kind %s. Ready jobs of this kind:", kind), Count: &c, Href: v.Href("/nodes"),
			Remedy: v.T("Start a program that registers a handler for this kind, or cancel the jobs."),
			Acts:   []act{v.cancelAct("state", "ready", "kind", kind)},
		})
	}
	return all, nil
}
