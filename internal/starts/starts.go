// Package starts counts what was started, by queue, tenant and kind, until it is reported.
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
	mu    sync.Mutex
	lanes map[lane]driver.Starts
}

type lane struct{ queue, tenant, kind string }

// New makes a counter that has counted nothing.
func New() *Counter { return &Counter{lanes: map[lane]driver.Starts{}} }

// Add counts jobs that were claimed, and reports whether some of them started too late.
func (c *Counter) Add(jobs []*fairlead.Job) (missed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range jobs {
		count := driver.Starts{Tenant: job.Tenant, Queue: job.Queue, Kind: job.Kind, Count: 1}
		if driver.MissedStart(job) {
			count.Missed, missed = 1, true
		}
		c.addOne(count)
	}
	return missed
}

func (c *Counter) addOne(more driver.Starts) {
	key := lane{more.Queue, more.Tenant, more.Kind}
	sum := c.lanes[key]
	more.Count, more.Missed = more.Count+sum.Count, more.Missed+sum.Missed
	c.lanes[key] = more
}

// Take returns what was counted and begins anew.
func (c *Counter) Take() []driver.Starts {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := make([]driver.Starts, 0, len(c.lanes))
	for _, started := range c.lanes {
		taken = append(taken, started)
	}
	clear(c.lanes)
	return taken
}

// GiveBack undoes Take: it could not be reported.
func (c *Counter) GiveBack(taken []driver.Starts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, started := range taken {
		c.addOne(started)
	}
}
