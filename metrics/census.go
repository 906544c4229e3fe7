package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead/driver"
)

const (
	// Counting jobs gets more expensive with the number of jobs. The census therefore runs at
	// most once per censusPause and takes at most one part in censusShare of the time.
	censusPause = 5 * time.Second
	censusShare = 20
	// censusPatience limits how long a scrape waits for the database.
	censusPatience = 4 * time.Second
)

// census exports the contents of the store. An unavailable store does not fail a scrape:
// then fairlead_store_up is 0 and the other values are left out.
type census struct {
	store driver.Store
	log   *slog.Logger

	mu   sync.Mutex
	next time.Time // time of the next census
	last []prometheus.Metric
}

func newCensus(store driver.Store, log *slog.Logger) *census {
	return &census{store: store, log: log}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	storeUp    = describe("fairlead_store_up", "1 if the database responds, otherwise 0.")
	liveNodes  = describe("fairlead_live_nodes", "Nodes with a valid lease.")
	deadNodes  = describe("fairlead_dead_nodes", "Nodes whose lease expired. They are removed after an hour.")
	liveJobs   = describe("fairlead_jobs", "Jobs that have not ended; state is scheduled, parked, ready, running or waiting.", "state")
	readyJobs  = describe("fairlead_ready_jobs", "Jobs that are due and wait for a slot.", "queue")
	oldestWait = describe("fairlead_oldest_wait_seconds", "Time since the earliest acceptable start among the ready jobs.", "queue")
	tenantJobs = describe("fairlead_tenant_jobs", "Ready and running jobs of the largest tenants. All other tenants are combined as (other).", "tenant", "state")
	openBulks  = describe("fairlead_open_bulks", "Bulks among the newest 100 that have not ended; state is pending or running.", "state")
	lookAge    = describe("fairlead_hold_look_age_seconds", "Time since a node last recorded what keeps jobs waiting. Missing if no node ever has.")
)

// Describe implements prometheus.Collector.
func (c *census) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{storeUp, liveNodes, deadNodes, liveJobs, readyJobs, oldestWait, tenantJobs, openBulks, lookAge} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *census) Collect(to chan<- prometheus.Metric) {
	for _, metric := range c.current() {
		to <- metric
	}
}

// current returns the metrics of the last census, or of a new one if that is too old. Of
// concurrent scrapes, one performs the census and the others wait for it.
func (c *census) current() []prometheus.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	begin := time.Now()
	if begin.Before(c.next) {
		return c.last
	}
	c.last = c.take()
	end := time.Now()
	c.next = end.Add(max(censusPause, censusShare*end.Sub(begin)))
	return c.last
}

// take performs a census.
func (c *census) take() []prometheus.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), censusPatience)
	defer cancel()
	var found findings
	nodes, err := c.store.Nodes(ctx)
	found.gauge(storeUp, truth(err == nil))
	if err != nil {
		c.log.Warn("store metrics omitted: the store does not answer", "error", err)
		return found
	}
	found.nodes(nodes)
	for _, part := range []struct {
		of   string
		take func(context.Context, driver.Store) error
	}{{"jobs", found.jobs}, {"bulks", found.bulks}, {"holds", found.holds}} {
		if err := part.take(ctx, c.store); err != nil {
			c.log.Warn(part.of+" metrics omitted: the count failed", "error", err)
		}
	}
	return found
}
