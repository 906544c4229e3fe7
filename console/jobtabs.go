package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// tabCount is about how many jobs are looked at to count those of one state.
const tabCount = 2000

// jobTabs are the jobs by state. Jobs that are looked through for a text are not
// counted: that would take all of them.
func (v *visit) jobTabs(f *jobFilter) ([]jobTab, error) {
	tabs := []jobTab{{Href: v.Here("state", "", "at_most", ""), Current: len(f.State) == 0}}
	for _, state := range jobStates {
		tabs = append(tabs, jobTab{State: state, Href: v.Here("state", state, "at_most", ""), Current: slices.Equal(f.State, []string{state})})
	}
	if f.looks() {
		return tabs, nil
	}
	live, known, err := v.liveCounts(f)
	if err != nil {
		return nil, err
	}
	for i := range tabs[1:] {
		tab := &tabs[1+i]
		if n, live := live[tab.State]; known && live {
			v.fillTab(tab, n, false)
			continue
		}
		counted, err := v.countJobs(f, tab.State)
		if err != nil {
			return nil, err
		}
		v.fillTab(tab, int64(counted.GetTotal()), counted.GetMore())
	}
	v.sumTabs(tabs)
	return tabs, nil
}

// sumTabs gives the first tab, of all states, the sum of the others. It is left without a
// number if one of them stopped at a bound: which jobs the sum counts could not be told.
func (v *visit) sumTabs(tabs []jobTab) {
	sum := int64(0)
	for _, tab := range tabs[1:] {
		if !tab.Counted || tab.Count.More {
			return
		}
		sum += tab.Count.N
	}
	v.fillTab(&tabs[0], sum, false)
}

// liveCounts are the numbers of jobs that have not ended, which the service keeps: of all
// jobs, of a tenant's, or of a queue's. For other filters they are not known.
func (v *visit) liveCounts(f *jobFilter) (counts map[string]int64, known bool, err error) {
	if len(f.Kind) > 0 || f.Key != "" || f.Batch+f.Schedule > 0 || f.From != nil || f.To != nil || f.FinishedFrom != nil {
		return nil, false, nil
	}
	switch {
	case len(f.Tenant) == 0 && len(f.Queue) == 0:
		stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
		if err != nil {
			return nil, false, err
		}
		return usageCounts(v.totals(stats)), true, nil
	case len(f.Tenant) == 1 && len(f.Queue) == 0:
		usage, err := v.tenants.GetTenantStats(v.ctx, &fairleadv1.GetTenantRequest{Name: f.Tenant[0]})
		if err != nil {
			return nil, false, nil // it is not told whether a tenant is unknown or another's
		}
		return usageCounts(usage), true, nil
	}
	return nil, false, nil
}

func usageCounts(u *fairleadv1.Usage) map[string]int64 {
	return map[string]int64{
		"scheduled": int64(u.GetScheduled()), "parked": int64(u.GetParked()), "ready": int64(u.GetReady()), "running": int64(u.GetRunning()), "waiting": int64(u.GetWaiting()),
	}
}

func (v *visit) countJobs(f *jobFilter, state string) (*fairleadv1.CountJobsResponse, error) {
	return v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
		State: []string{state}, Kind: f.Kind, Queue: f.Queue, Tenant: f.Tenant, Key: f.Key, From: f.From, To: f.To, FinishedFrom: f.FinishedFrom,
		Schedule: f.Schedule, Batch: f.Batch, AtMost: tabCount,
	})
}

// fillTab gives a tab its number. A count that stopped leads to a list that stops there;
// one that found nothing before it stopped says nothing.
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
