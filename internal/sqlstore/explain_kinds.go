package sqlstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// known returns the kinds that live nodes know, or none if one of them knows the job's
// kind.
func (f *Facts) known() []fairlead.KindCount {
	var known []fairlead.KindCount
	for i := range f.Nodes {
		if !f.alive(&f.Nodes[i]) {
			continue
		}
		for _, kind := range f.Nodes[i].Kinds {
			if kind == f.Job.Kind {
				return nil
			}
			known = append(known, fairlead.KindCount{Kind: kind})
		}
	}
	slices.SortFunc(known, func(a, b fairlead.KindCount) int { return cmp.Compare(a.Kind, b.Kind) })
	known = slices.Compact(known)
	return known[:min(len(known), fairlead.MaxKinds)]
}

// takers returns the kinds of the jobs that take the slots of the given nodes, most jobs
// first.
func (f *Facts) takers(nodes []fairlead.Node) []fairlead.KindCount {
	counts := map[string]int{}
	for _, held := range f.Held {
		if slices.ContainsFunc(nodes, func(node fairlead.Node) bool { return node.ID == held.Node }) {
			counts[held.Kind] += held.Jobs
		}
	}
	var takers []fairlead.KindCount
	for kind, jobs := range counts {
		takers = append(takers, fairlead.KindCount{Kind: kind, Jobs: jobs})
	}
	slices.SortFunc(takers, func(a, b fairlead.KindCount) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Kind, b.Kind))
	})
	return takers[:min(len(takers), fairlead.MaxKinds)]
}

// boundless is the timeout from which a run counts as unlimited. Shards have such timeouts,
// because they run as long as necessary.
const boundless = 100 * 365 * 24 * time.Hour

// run returns the state of a running job's run.
func (f *Facts) run() *fairlead.CurrentRun {
	job := f.Job
	run := &fairlead.CurrentRun{Node: job.Node, Since: job.StartedAt, Timeout: job.Timeout, Crashes: job.Crashes, Lost: true, Stopping: job.CancelWish}
	for i := range f.Nodes {
		if node := &f.Nodes[i]; node.ID == job.Node {
			run.Name, run.LastBeat, run.Lost = node.Name, node.LastBeat, !f.alive(node)
			run.Timeout = verdict.Timeout(job, driver.EntryOf(node, job.Kind), 0)
		}
	}
	if run.Timeout >= boundless {
		run.Timeout = 0
	}
	return run
}
