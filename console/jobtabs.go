package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	tabCount     = 500 // approximate limit for counting jobs
	tabMadeCount = 25  // the same for the jobs of a schedule or a batch, which are looked up one by one
)

// jobTabs returns the numbers of jobs by state. It counts them exactly if the page has all
// jobs. The numbers of live jobs come from the service's statistics if the list shows all
// jobs or those of one tenant or queue; others are counted up to a limit. With a text
// search, jobs are not counted, because that would require reading all of them.
func (v *visit) jobTabs(f *jobFilter, shown []*fairleadv1.Job, more bool) ([]jobTab, error) {
	tabs := []jobTab{{Href: v.Here("state", "", "at_most", ""), Current: len(f.State) == 0}}
	for _, state := range jobStates {
		tabs = append(tabs, jobTab{State: state, Href: v.Here("state", state, "at_most", ""), Current: slices.Equal(f.State, []string{state})})
	}
	if f.looks() {
		return tabs, nil
	}
	if !more && len(f.State) == 0 && f.PageToken == "" && f.atMost == 0 {
		v.fillTabs(tabs, statesOf(shown), true)
		return tabs, nil
	}
	known, err := v.liveCounts(f)
	if err != nil {
		return nil, err
	}
	groups := [][]string{{"succeeded"}, {"failed"}, {"cancelled"}, {"skipped"}}
	if known == nil {
		known, groups = map[string]int64{}, append(groups, liveStates)
	}
	for _, states := range groups {
		counted, err := v.countStates(f, states)
		if err != nil {
			return nil, err
		}
		for _, state := range counted.GetStates() {
			if counted.GetMore() {
				v.fillTab(tabOf(tabs, state.GetState()), int64(state.GetCount()), true)
			} else {
				known[state.GetState()] = int64(state.GetCount())
			}
		}
	}
	v.fillTabs(tabs, known, len(known) == len(jobStates))
	return tabs, nil
}

// statesOf returns the number of the jobs in each state.
func statesOf(jobs []*fairleadv1.Job) map[string]int64 {
	counts := map[string]int64{}
	for _, state := range jobStates {
		counts[state] = 0
	}
	for _, job := range jobs {
		counts[job.GetState()]++
	}
	return counts
}

// liveStates lists the states of live jobs.
var liveStates = []string{"scheduled", "parked", "ready", "running", "waiting"}

// countStates counts the jobs in some states. It counts each final state separately,
// because the most common one would otherwise use up the limit of all.
func (v *visit) countStates(f *jobFilter, states []string) (*fairleadv1.CountJobsResponse, error) {
	bound := int32(tabCount)
	if f.Batch+f.Schedule > 0 {
		bound = tabMadeCount
	}
	return v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
		State: states, Kind: f.Kind, Queue: f.Queue, Tenant: f.Tenant, Key: f.Key, From: f.From, To: f.To, FinishedFrom: f.FinishedFrom,
		Schedule: f.Schedule, Batch: f.Batch, AtMost: bound,
	})
}

// liveCounts returns the number of live jobs by state: of all jobs, of one tenant or of one
// queue. It returns nil for other filters.
func (v *visit) liveCounts(f *jobFilter) (map[string]int64, error) {
	if len(f.Kind) > 0 || f.Key != "" || f.Batch+f.Schedule > 0 || f.From != nil || f.To != nil || f.FinishedFrom != nil {
		return nil, nil
	}
	switch {
	case len(f.Tenant) == 0 && len(f.Queue) == 0:
		stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
		if err != nil {
			return nil, err
		}
		return liveOf(v.totals(stats)), nil
	case len(f.Tenant) == 1 && len(f.Queue) == 0:
		stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
		if err != nil {
			return nil, err
		}
		for _, usage := range stats.GetTenants() {
			if usage.GetTenant() == f.Tenant[0] {
				return liveOf(usage), nil
			}
		}
		return liveOf(nil), nil
	case len(f.Queue) == 1 && len(f.Tenant) == 0 && v.Unbound():
		return v.liveOfQueue(f.Queue[0])
	}
	return nil, nil
}

func (v *visit) liveOfQueue(name string) (map[string]int64, error) {
	queues, err := v.queues.ListQueues(v.ctx, &fairleadv1.ListQueuesRequest{})
	if err != nil {
		return nil, err
	}
	var q *fairleadv1.Queue
	for _, one := range queues.GetItems() {
		if one.GetName() == name {
			q = one
		}
	}
	return map[string]int64{"scheduled": q.GetScheduled(), "parked": q.GetParked(), "ready": q.GetReady(), "running": q.GetRunning(), "waiting": q.GetWaiting()}, nil
}

func liveOf(u *fairleadv1.Usage) map[string]int64 {
	return map[string]int64{
		"scheduled": int64(u.GetScheduled()), "parked": int64(u.GetParked()), "ready": int64(u.GetReady()), "running": int64(u.GetRunning()), "waiting": int64(u.GetWaiting()),
	}
}

// fillTabs sets the known numbers of tabs, and the sum on the first tab if all are known.
func (v *visit) fillTabs(tabs []jobTab, known map[string]int64, all bool) {
	sum := int64(0)
	for state, n := range known {
		v.fillTab(tabOf(tabs, state), n, false)
		sum += n
	}
	if all {
		v.fillTab(&tabs[0], sum, false)
	}
}

func tabOf(tabs []jobTab, state string) *jobTab {
	return &tabs[slices.IndexFunc(tabs, func(tab jobTab) bool { return tab.State == state })]
}

// fillTab sets the number of a tab. A count that stopped early links to a list that stops
// there; one that found nothing before it stopped is not shown.
func (v *visit) fillTab(tab *jobTab, n int64, more bool) {
	switch {
	case more && n == 0:
		return
	case more:
		tab.Count = count{N: n, More: true, Href: v.Here("state", tab.State, "at_most", n), Tone: v.Tone(tab.State)}
	default:
		tab.Count = count{N: n, Href: tab.Href, Tone: v.Tone(tab.State)}
	}
	tab.Counted = true
}
