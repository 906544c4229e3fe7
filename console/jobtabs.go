package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// tabCount is about how many jobs are counted for a tab.
const tabCount = 1000

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
	all, err := v.countJobs(f, nil)
	if err != nil {
		return nil, err
	}
	v.fillTab(&tabs[0], int64(all.GetTotal()), all.GetMore())
	counted := all.GetStates()
	for i := range tabs[1:] {
		tab := &tabs[1+i]
		if all.GetMore() { // jobs of one state may have used up the bound
			one, err := v.countJobs(f, []string{tab.State})
			if err != nil {
				return nil, err
			}
			v.fillTab(tab, int64(one.GetTotal()), one.GetMore())
			continue
		}
		for _, state := range counted {
			if state.GetState() == tab.State {
				v.fillTab(tab, int64(state.GetCount()), false)
			}
		}
	}
	return tabs, nil
}

func (v *visit) countJobs(f *jobFilter, states []string) (*fairleadv1.CountJobsResponse, error) {
	return v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
		State: states, Kind: f.Kind, Queue: f.Queue, Tenant: f.Tenant, Key: f.Key, From: f.From, To: f.To, FinishedFrom: f.FinishedFrom,
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
