package console

import (
	"cmp"
	"slices"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// overview is how the cluster is at a glance.
type overview struct {
	Running, Waiting, Ready, Parked, Scheduled count
	Usage                                      *fairleadv1.Usage
	Figures, Series                            string // of the chart of starts
	Nodes                                      []*fairleadv1.Node
	Tenants                                    []*fairleadv1.Usage
	AllTenants                                 int
	Batches                                    []*fairleadv1.Batch
	Sweeps                                     []*fairleadv1.Sweep
}

const (
	overviewTenants = 10 // that are shown, those with most running jobs first
	overviewRows    = 6  // of other things
)

func loadOverview(v *visit) (any, error) {
	stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
	if err != nil {
		return nil, err
	}
	total := stats.GetTotal()
	o := &overview{Usage: total, AllTenants: len(stats.GetTenants())}
	o.Running, o.Waiting, o.Ready = v.jobsIn("running", total.GetRunning()), v.jobsIn("waiting", total.GetWaiting()), v.jobsIn("ready", total.GetReady())
	o.Parked, o.Scheduled = v.jobsIn("parked", total.GetParked()), v.jobsIn("scheduled", total.GetScheduled())
	if o.Figures, o.Series, err = v.throughput(total); err != nil {
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
		o.Nodes = nodes.GetItems()
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
	return o, nil
}

// jobsIn is how many jobs are in a state.
func (v *visit) jobsIn(state string, n int32) count {
	return count{N: int64(n), Href: v.Href("/jobs", "state", state), Tone: v.Tone(state)}
}

// throughput is what the chart of the last half hour is drawn from.
func (v *visit) throughput(total *fairleadv1.Usage) (figures, series string, err error) {
	names := []string{v.T("starts per second"), v.T("running")}
	return v.chart("cluster\x00"+v.scope, names, total.GetStarted(), float64(total.GetRunning()))
}
