// Package starts counts what was started, by tenant, until it is reported.
package starts

import (
	"sync"

	"github.com/fairlead-io/fairlead"
)

// Counter counts what was started since it was last taken. A job starts
// with its lease, from which on it counts against limits; whether it is one of
// those few that are given back before their handler begins does not matter here.
type Counter struct {
	mu      sync.Mutex
	tenants map[string]fairlead.Starts
}

// New makes a counter that has counted nothing.
func New() *Counter { return &Counter{tenants: map[string]fairlead.Starts{}} }

// Add counts jobs that were claimed.
func (c *Counter) Add(jobs []*fairlead.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range jobs {
		count := fairlead.Starts{Tenant: job.Tenant, Count: 1}
		if fairlead.MissedStart(job) {
			count.Missed = 1
		}
		c.addOne(count)
	}
}

func (c *Counter) addOne(more fairlead.Starts) {
	sum := c.tenants[more.Tenant]
	c.tenants[more.Tenant] = fairlead.Starts{Tenant: more.Tenant, Count: sum.Count + more.Count, Missed: sum.Missed + more.Missed}
}

// Take returns what was counted and begins anew.
func (c *Counter) Take() []fairlead.Starts {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := make([]fairlead.Starts, 0, len(c.tenants))
	for _, tenant := range c.tenants {
		taken = append(taken, tenant)
	}
	clear(c.tenants)
	return taken
}

// GiveBack undoes Take: it could not be reported.
func (c *Counter) GiveBack(taken []fairlead.Starts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tenant := range taken {
		c.addOne(tenant)
	}
}
