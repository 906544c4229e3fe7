// Package starts counts what was started, by tenant, until it is reported.
package starts

import (
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Counter counts what was started since it was last taken. A job starts
// with its lease, from which on it counts against limits; whether it is one of
// those few that are given back before their handler begins does not matter here.
type Counter struct {
	mu      sync.Mutex
	tenants map[string]driver.Starts
}

// New makes a counter that has counted nothing.
func New() *Counter { return &Counter{tenants: map[string]driver.Starts{}} }

// Add counts jobs that were claimed.
func (c *Counter) Add(jobs []*fairlead.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range jobs {
		count := driver.Starts{Tenant: job.Tenant, Count: 1}
		if driver.MissedStart(job) {
			count.Missed = 1
		}
		c.addOne(count)
	}
}

func (c *Counter) addOne(more driver.Starts) {
	sum := c.tenants[more.Tenant]
	c.tenants[more.Tenant] = driver.Starts{Tenant: more.Tenant, Count: sum.Count + more.Count, Missed: sum.Missed + more.Missed}
}

// Take returns what was counted and begins anew.
func (c *Counter) Take() []driver.Starts {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := make([]driver.Starts, 0, len(c.tenants))
	for _, tenant := range c.tenants {
		taken = append(taken, tenant)
	}
	clear(c.tenants)
	return taken
}

// GiveBack undoes Take: it could not be reported.
func (c *Counter) GiveBack(taken []driver.Starts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tenant := range taken {
		c.addOne(tenant)
	}
}
