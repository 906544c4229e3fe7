package console

import (
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

const (
	tabCount    = 500    // limit for counting jobs in a final state
	failedCount = 10_000 // limit for failed jobs
	madeCount   = 500    // limit for the jobs of a schedule or a batch, which are looked up one by one
	madeFailed  = 2_500  // limit for their failed jobs
)

// stateCounting is a set of states that one call counts, with the limit of that count.
type stateCounting struct {
	states []string
	atMost int32
}

// byState returns the calls that count the jobs of a list. It counts each final state separately,
// because the most common one would otherwise use up the limit of all.
func (f *jobFilter) byState() []stateCounting {
	if f.Batch+f.Schedule > 0 {
		return []stateCounting{{jobStates, madeCount}, {[]string{"failed"}, madeFailed}}
	}
	return []stateCounting{
		{liveStates, tabCount}, {[]string{"failed"}, failedCount}, {[]string{"succeeded"}, tabCount}, {[]string{"cancelled"}, tabCount}, {[]string{"skipped"}, tabCount},
	}
}

// jobTabs returns the numbers of jobs by state. A page that contains all jobs counts them itself. A
// count that stopped early is shown only if it has reached its limit, so that numbers are the same
// at every refresh. With a text search or selected IDs, jobs are not counted.
func (v *visit) jobTabs(f *jobFilter, shown []*fairleadv1.Job, more bool) ([]jobTab, error) {
	tabs := []jobTab{{Href: v.Here("state", "", "at_most", ""), Current: len(f.State) == 0}}
	for _, state := range jobStates {
		tabs = append(tabs, jobTab{State: state, Href: v.Here("state", state, "at_most", ""), Current: slices.Equal(f.State, []string{state})})
	}
	switch {
	case f.looks():
		return tabs, nil
	case !more && len(f.State) == 0 && f.PageToken == "" && f.atMost == 0:
		v.fillTabs(tabs, statesOf(shown))
		return tabs, nil
	case len(f.Id) > 0:
		return tabs, nil
	}
	known := map[string]int64{}
	for _, part := range f.byState() {
		counted, err := v.countStates(f, part)
		if err != nil {
			return nil, err
		}
		for _, state := range counted.GetStates() {
			switch n := int64(state.GetCount()); {
			case !counted.GetMore():
				known[state.GetState()] = n
			case n >= int64(part.atMost):
				v.fillTab(tabOf(tabs, state.GetState()), int64(part.atMost), true)
			}
		}
		if len(known) == len(jobStates) {
			break
		}
	}
	v.fillTabs(tabs, known)
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

// countStates counts the jobs of some states.
func (v *visit) countStates(f *jobFilter, part stateCounting) (*fairleadv1.CountJobsResponse, error) {
	return v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{
		State: part.states, Kind: f.Kind, Queue: f.Queue, Tenant: f.Tenant, Key: f.Key, From: f.From, To: f.To, FinishedFrom: f.FinishedFrom,
		Schedule: f.Schedule, Batch: f.Batch, AtMost: part.atMost,
	})
}

// fillTabs sets the known numbers of tabs, and the sum on the first tab if all are known.
func (v *visit) fillTabs(tabs []jobTab, known map[string]int64) {
	sum := int64(0)
	for state, n := range known {
		v.fillTab(tabOf(tabs, state), n, false)
		sum += n
	}
	if len(known) == len(jobStates) {
		v.fillTab(&tabs[0], sum, false)
	}
}

func tabOf(tabs []jobTab, state string) *jobTab {
	return &tabs[slices.IndexFunc(tabs, func(tab jobTab) bool { return tab.State == state })]
}

// fillTab gives a tab its number. A count that stopped leads to a list that stops there.
func (v *visit) fillTab(tab *jobTab, n int64, more bool) {
	tab.Count = count{N: n, Href: tab.Href, Tone: v.Tone(tab.State)}
	if more {
		tab.Count.More, tab.Count.Href = true, v.Here("state", tab.State, "at_most", n)
	}
	tab.Counted = true
}
