package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	topTenants  = 20
	topQueues   = 200
	newestBulks = 100 // number of bulks that are read
)

// findings contains the results of a census.
type findings []prometheus.Metric

func (f *findings) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	*f = append(*f, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...))
}

func (f *findings) nodes(nodes []fairlead.Node) {
	live, dead := 0, 0
	for _, node := range nodes {
		switch {
		case node.Died():
			dead++
		case !node.Dead:
			live++
		}
	}
	f.gauge(liveNodes, float64(live))
	f.gauge(deadNodes, float64(dead))
}

func (f *findings) jobs(ctx context.Context, store driver.Store) error {
	report, err := store.Usage(ctx)
	if err != nil {
		return err
	}
	for state, n := range map[fairlead.State]int{
		fairlead.Scheduled: report.All.Scheduled, fairlead.Parked: report.All.Parked, fairlead.Ready: report.All.Ready,
		fairlead.Running: report.All.Running, fairlead.Waiting: report.All.Waiting,
	} {
		f.gauge(liveJobs, float64(n), string(state))
	}
	for _, queue := range largest(topQueues, report.Queues) {
		f.gauge(readyJobs, float64(queue.Ready), queue.Name)
		f.gauge(oldestWait, queue.OldestWait.Seconds(), queue.Name)
	}
	for _, tenant := range largest(topTenants, report.Tenants) {
		f.gauge(tenantJobs, float64(tenant.Ready), tenant.Name, string(fairlead.Ready))
		f.gauge(tenantJobs, float64(tenant.Running), tenant.Name, string(fairlead.Running))
	}
	return nil
}

func (f *findings) bulks(ctx context.Context, store driver.Store) error {
	page, err := store.Bulks(ctx, bulk.Filter{Limit: newestBulks})
	if err != nil {
		return err
	}
	count := map[bulk.State]int{}
	for i := range page.Bulks {
		count[page.Bulks[i].State]++
	}
	for _, state := range []bulk.State{bulk.Pending, bulk.Running} {
		f.gauge(openBulks, float64(count[state]), string(state))
	}
	return nil
}

func (f *findings) holds(ctx context.Context, store driver.Store) error {
	state, err := store.HoldLook(ctx)
	if err == nil && state.Version != 0 {
		f.gauge(lookAge, max(0, state.Now.Sub(state.At).Seconds())) // the clock may have been set back
	}
	return err
}
