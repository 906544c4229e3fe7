package console

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	waitingHolds  = 100 // holds that a list of ready jobs looks at
	waitingGroups = 10  // causes that are shown, those of most jobs first
	// holdsRecent is how long ago a hold may have ended to be read. Those that have ended are
	// left out.
	holdsRecent = 5 * time.Second
)

// waiting is what keeps the jobs of a list of ready jobs from starting.
type waiting struct {
	Groups []waitingGroup
	holds  []*fairleadv1.Hold // that are in effect, the gravest first
	known  bool               // holds are recorded
}

// waitingGroup is the jobs of a list that one cause keeps from starting.
type waitingGroup struct {
	ID, Code, Text string
	Remedy         string
	Links          []link
	Count          count
}

// holdOrder is the order in which causes are named of a job that several of them hold.
var holdOrder = []string{"paused", "no_node", "at_cap", "over_rate", "no_slot"}

// waitingOf says what keeps the jobs of a list from starting; nil if others than ready jobs are
// listed.
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

// only returns the name that a filter chooses by; empty if there are none or several.
func only(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// byLane reports whether jobs are chosen by state, queue, tenant and kind alone: such jobs are
// counted in full.
func (f *jobFilter) byLane() bool {
	return !f.looks() && f.Key == "" && f.Batch+f.Schedule == 0 && len(f.Id) == 0 && f.From == nil && f.To == nil && f.FinishedFrom == nil
}

// group counts the jobs of the list that each hold concerns.
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
		w.Groups = append(w.Groups, waitingGroup{
			ID: "hold-" + text(hold.GetId()), Code: hold.GetCode(), Text: said.Text, Remedy: said.Remedy, Links: said.Links,
			Count: count{N: int64(counted.GetTotal()), Href: v.Href("/jobs", parameters...), Tone: v.Tone(hold.GetCode())},
		})
	}
	slices.SortStableFunc(w.Groups, func(a, b waitingGroup) int { return cmp.Compare(b.Count.N, a.Count.N) })
	w.Groups = w.Groups[:min(len(w.Groups), waitingGroups)]
	return nil
}

// concerns reports whether a hold may concern jobs of the chosen names.
func concerns(chosen []string, name string) bool {
	return len(chosen) == 0 || name == "" || slices.Contains(chosen, name)
}

// narrowed returns the names of a filter as far as a hold concerns them.
func narrowed(chosen []string, name string) []string {
	if name == "" {
		return chosen
	}
	return []string{name}
}

// holdSaid puts a hold into the words that the page of a job uses.
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

// Why names what keeps a job of the list from starting: the code of a hold, or in_line if the job
// waits for its turn. It is empty if nothing is recorded.
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

// matches reports whether a name of a hold, where empty means any, is that of a job.
func matches(name, of string) bool { return name == "" || name == of }

// Age returns how long a job has been waiting: since it was created, or since it was due.
func (v *visit) Age(job *fairleadv1.Job) time.Duration {
	since := moment(job.GetCreatedAt())
	if due := moment(job.GetNotBefore()); due.After(since) {
		since = due
	}
	return max(0, v.Now.Sub(since))
}
