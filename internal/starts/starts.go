// Package starts counts started jobs by queue, tenant and kind until the counts are
// reported.
package starts

import (
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Counter counts the jobs that were started since the last Take. A job starts when it is
// leased, because it counts against limits from then on. Counter therefore also counts the
// few jobs that are released before their handler begins.
type Counter struct {
	mu    sync.Mutex
	lanes map[lane]driver.Starts
}

type lane struct{ queue, tenant, kind string }

// New returns an empty Counter.
func New() *Counter { return &Counter{lanes: map[lane]driver.Starts{}} }

// Add counts claimed jobs and reports whether any of them started too late.
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

// Take returns the counts and resets them.
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

// GiveBack adds counts back to the counter if they could not be reported. The next Take then
// returns them.
func (c *Counter) GiveBack(taken []driver.Starts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, started := range taken {
		c.addOne(started)
	}
}
