package console

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// overview is a summary of the cluster.
type overview struct {
	Running, Waiting, Ready, Parked, Scheduled, Failed count
	Usage                                              *fairleadv1.Usage
	Figures, Series                                    string  // data for the chart of job starts
	Period                                             *period // time range of that chart
	Nodes                                              []*fairleadv1.Node
	Tenants                                            []*fairleadv1.Usage
	AllTenants                                         int
	Batches                                            []*fairleadv1.Batch
	Sweeps                                             []*fairleadv1.Sweep
	Fires                                              []*fairleadv1.Schedule
	Concerns                                           []concern
	usages                                             []*fairleadv1.Usage // usage of all tenants
}

const (
	overviewTenants = 10 // maximum number of tenants shown, those with the most running jobs first
	overviewNodes   = 12
	overviewRows    = 6    // rows of other lists
	overviewFailed  = 1000 // limit for counting the failures of the last hour
)

func loadOverview(v *visit) (any, error) {
	p := v.parameters()
	period := p.period("1h")
	if err := p.err(); err != nil {
		return nil, err
	}
	stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
	if err != nil {
		return nil, err
	}
	total := v.totals(stats)
	o := &overview{Usage: total, Period: period, AllTenants: len(stats.GetTenants()), usages: stats.GetTenants()}
	o.Running, o.Waiting, o.Ready = v.jobsIn("running", total.GetRunning()), v.jobsIn("waiting", total.GetWaiting()), v.jobsIn("ready", total.GetReady())
	o.Parked, o.Scheduled = v.jobsIn("parked", total.GetParked()), v.jobsIn("scheduled", total.GetScheduled())
	if o.Figures, o.Series, err = v.throughput(total, period); err != nil {
		return nil, err
	}
	o.Tenants = slices.SortedFunc(slices.Values(stats.GetTenants()), func(a, b *fairleadv1.Usage) int {
		return cmp.Or(cmp.Compare(b.GetRunning()+b.GetWaiting(), a.GetRunning()+a.GetWaiting()), cmp.Compare(b.GetReady(), a.GetReady()), cmp.Compare(a.GetTenant(), b.GetTenant()))
	})
	o.Tenants = o.Tenants[:min(len(o.Tenants), overviewTenants)]
	if !v.Bound() {
		nodes, err := v.nodes.ListNodes(v.ctx, &fairleadv1.ListNodesRequest{})
		if err != nil {
			return nil, err
		}
		o.Nodes = nodes.GetItems()[:min(len(nodes.GetItems()), maxRows)]
	}
	batches, err := v.batches.ListBatches(v.ctx, &fairleadv1.ListBatchesRequest{Open: true, PageSize: overviewRows})
	if err != nil {
		return nil, err
	}
	o.Batches = batches.GetItems()
	sweeps, err := v.sweeps.ListSweeps(v.ctx, &fairleadv1.ListSweepsRequest{State: []string{"waiting", "running", "stopping"}, PageSize: overviewRows})
	if err != nil {
		return nil, err
	}
	o.Sweeps = sweeps.GetItems()
	since := v.hourAgo()
	if o.Failed, err = v.counted(&fairleadv1.CountJobsRequest{State: []string{"failed"}, FinishedFrom: timestamppb.New(since), AtMost: overviewFailed}, "state", "failed", "finished_from", since); err != nil {
		return nil, err
	}
	if o.Fires, err = v.nextFires(); err != nil {
		return nil, err
	}
	o.Concerns, err = v.attention(o)
	return o, err
}

// Living returns the nodes that may run jobs, at most as many as fit.
func (o *overview) Living() (all []*fairleadv1.Node) {
	for _, node := range o.Nodes {
		if !node.GetDead() && len(all) < overviewNodes {
			all = append(all, node)
		}
	}
	return all
}

// totals returns the usage of all jobs visible to the viewer. For viewers bound to tenants,
// it covers only these tenants.
func (v *visit) totals(stats *fairleadv1.Stats) *fairleadv1.Usage {
	if !v.Bound() {
		return stats.GetTotal()
	}
	sum := &fairleadv1.Usage{}
	for _, usage := range stats.GetTenants() {
		sum.Scheduled, sum.Parked, sum.Ready = sum.Scheduled+usage.GetScheduled(), sum.Parked+usage.GetParked(), sum.Ready+usage.GetReady()
		sum.Running, sum.Waiting = sum.Running+usage.GetRunning(), sum.Waiting+usage.GetWaiting()
		sum.Started, sum.Missed = sum.Started+usage.GetStarted(), sum.Missed+usage.GetMissed()
		if usage.GetOldestWait().AsDuration() > sum.GetOldestWait().AsDuration() {
			sum.OldestWait = usage.GetOldestWait()
		}
	}
	return sum
}

// jobsIn returns the number of jobs in a state, with a link.
func (v *visit) jobsIn(state string, n int32) count {
	return count{N: int64(n), Href: v.Href("/jobs", "state", state), Tone: v.Tone(state)}
}
