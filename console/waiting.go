package console

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	waitingHolds  = 100 // maximum number of holds read
	waitingGroups = 10  // maximum number of reasons shown, those of most jobs first
	// holdsRecent is the period whose holds are read. Holds that have ended are left out.
	holdsRecent = 5 * time.Second
)

// waiting holds the reasons why the ready jobs of a list do not start.
type waiting struct {
	Groups []waitingGroup
	holds  []*fairleadv1.Hold // holds in effect, the most severe first
	known  bool               // whether holds are recorded
}

// waitingGroup is a reason and the number of jobs in the list that it holds back.
type waitingGroup struct {
	ID, Code, Text string
	Remedy         string
	Links          []link
	Acts           []act // buttons that carry out the remedy
	Count          count
}

// holdOrder lists the causes by severity. A row shows the most severe one of its job.
var holdOrder = []string{"paused", "no_node", "at_cap", "over_rate", "no_slot"}

// waitingOf returns the reasons why the jobs of a list do not start, or nil if the list is not
// limited to ready jobs.
func (v *visit) waitingOf(f *jobFilter, shown []*fairleadv1.Job) (*waiting, error) {
	if !slices.Equal(f.State, []string{"ready"}) || len(shown) == 0 {
		return nil, nil
	}
	answer, err := v.holds.ListHolds(v.ctx, &fairleadv1.ListHoldsRequest{
		Queue: only(f.Queue), Tenant: only(f.Tenant), Kind: only(f.Kind),
		From: timestamppb.New(v.Now.Add(-holdsRecent).Truncate(holdsRecent)), PageSize: waitingHolds,
	})
	if err != nil {
		return nil, err
	}
	w := &waiting{known: answer.GetSince() != nil}
	for _, hold := range answer.GetItems() {
		if hold.GetUntil() == nil && slices.Contains(holdOrder, hold.GetCode()) {
			w.holds = append(w.holds, hold)
		}
	}
	slices.SortStableFunc(w.holds, func(a, b *fairleadv1.Hold) int {
		return cmp.Compare(slices.Index(holdOrder, a.GetCode()), slices.Index(holdOrder, b.GetCode()))
	})
	if f.byLane() {
		err = w.group(v, f)
	}
	return w, err
}

// only returns the name in a filter, or an empty string if the filter has none or several.
func only(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// byLane reports whether the filter contains only states, queues, tenants and kinds. Live jobs are
// then counted in full.
func (f *jobFilter) byLane() bool {
	return !f.looks() && f.Key == "" && f.Batch+f.Schedule == 0 && len(f.Id) == 0 && f.From == nil && f.To == nil && f.FinishedFrom == nil
}

// group counts the jobs of the list that each hold applies to.
func (w *waiting) group(v *visit, f *jobFilter) error {
	for _, hold := range w.holds {
		if !concerns(f.Kind, hold.GetKind()) || !concerns(f.Queue, hold.GetQueue()) || !concerns(f.Tenant, hold.GetTenant()) {
			continue
		}
		kind, queue, tenant := narrowed(f.Kind, hold.GetKind()), narrowed(f.Queue, hold.GetQueue()), narrowed(f.Tenant, hold.GetTenant())
		counted, err := v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{State: f.State, Kind: kind, Queue: queue, Tenant: tenant})
		if err != nil {
			return err
		}
		if counted.GetTotal() == 0 {
			continue
		}
		said := v.holdSaid(hold)
		parameters := []any{"state", "ready"}
		for _, part := range []struct {
			name  string
			names []string
		}{{"kind", kind}, {"queue", queue}, {"tenant", tenant}} {
			for _, value := range part.names {
				parameters = append(parameters, part.name, value)
			}
		}
		acts := said.Acts
		if hold.GetCode() == "no_node" {
			acts = append(acts, v.cancelAct(parameters...))
		}
		w.Groups = append(w.Groups, waitingGroup{
			ID: "hold-" + text(hold.GetId()), Code: hold.GetCode(), Text: said.Text, Remedy: said.Remedy, Links: said.Links, Acts: acts,
			Count: count{N: int64(counted.GetTotal()), Href: v.Href("/jobs", parameters...), Tone: v.Tone(hold.GetCode())},
		})
	}
	slices.SortStableFunc(w.Groups, func(a, b waitingGroup) int { return cmp.Compare(b.Count.N, a.Count.N) })
	w.Groups = w.Groups[:min(len(w.Groups), waitingGroups)]
	return nil
}

// concerns reports whether a hold may apply to jobs with one of the chosen names.
func concerns(chosen []string, name string) bool {
	return len(chosen) == 0 || name == "" || slices.Contains(chosen, name)
}

// narrowed returns the names of a filter that a hold applies to.
func narrowed(chosen []string, name string) []string {
	if name == "" {
		return chosen
	}
	return []string{name}
}

// holdSaid describes a hold as the page of a job does.
func (v *visit) holdSaid(hold *fairleadv1.Hold) obstacle {
	o := &fairleadv1.Obstacle{Code: hold.GetCode(), Scope: hold.GetScope(), Used: hold.GetUsed(), Cap: hold.GetCap(), Text: hold.GetText()}
	switch hold.GetScope() {
	case "queue":
		o.Name = hold.GetQueue()
	case "kind":
		o.Name = hold.GetKind()
	case "tenant":
		o.Name = hold.GetTenant()
	}
	if o.GetCode() != "over_rate" || hiddenParent(o) {
		return v.explain(&fairleadv1.Job{Queue: hold.GetQueue(), Kind: hold.GetKind()}, o, 0)
	}
	out := obstacle{Code: o.GetCode(), Text: v.T("%s: the start rate is used up.", v.owner(o))}
	v.limited(o, &out, "--rate")
	return out
}

// Why returns the code of the hold that applies to a job, in_line if there is none, or an empty
// string if no holds are recorded.
func (w *waiting) Why(job *fairleadv1.Job) string {
	for _, hold := range w.holds {
		if matches(hold.GetQueue(), job.GetQueue()) && matches(hold.GetTenant(), job.GetTenant()) && matches(hold.GetKind(), job.GetKind()) {
			return hold.GetCode()
		}
	}
	if w.known {
		return "in_line"
	}
	return ""
}

// matches reports whether the name in a hold is empty or equal to that of a job.
func matches(name, of string) bool { return name == "" || name == of }

// Age returns how long a job has been waiting: since it was created, or since it was due.
func (v *visit) Age(job *fairleadv1.Job) time.Duration {
	since := moment(job.GetCreatedAt())
	if due := moment(job.GetNotBefore()); due.After(since) {
		since = due
	}
	return max(0, v.Now.Sub(since))
}
