package workers

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// crew contains this server's knowledge of one worker: the jobs it runs, as far as the
// server knows them.
type crew struct {
	leasing sync.Mutex // held while leasing jobs, so that two calls do not fill the same slot

	mu         sync.Mutex
	leases     map[driver.Held]*leased
	suspectsAt time.Time     // time of the last search for crash suspects
	freed      chan struct{} // closed when slots become free
	used       time.Time
	large      bool // whether the jobs leased last needed more memory than leases initially reserve

	few int // number of jobs to lease at once, because the last ones were large; 0 = as many as there are slots
}

// leased is a job that a worker runs.
type leased struct {
	job  *fairlead.Job
	told time.Time // time of this server's first stop request; zero = none
	part *part     // shard that the job processes, if any and if known
	idle bool      // whether its last orders were to start no items of the shard
}

// crewOf returns the crew of a worker, and creates it if necessary.
func (s *Service) crewOf(id fairlead.NodeID) *crew {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	c := s.crews[id]
	if c == nil {
		s.sweep(now)
		c = &crew{leases: map[driver.Held]*leased{}, freed: make(chan struct{})}
		s.crews[id] = c
	}
	c.used = now
	return c
}

// sweep removes workers without requests for so long that they are dead, or use another
// server. The caller must hold s.mu.
func (s *Service) sweep(now time.Time) {
	if now.Sub(s.swept) < longestLease {
		return
	}
	s.swept = now
	for id, c := range s.crews {
		if now.Sub(c.used) > 2*longestLease {
			delete(s.crews, id)
		}
	}
}

func (s *Service) forget(id fairlead.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.crews, id)
}

// whenFreed returns a channel that is closed when a job of the worker is settled on this
// server.
func (c *crew) whenFreed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freed
}

// settled removes jobs that are no longer leased.
func (c *crew) settled(held []driver.Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range held {
		delete(c.leases, h)
	}
	close(c.freed)
	c.freed = make(chan struct{})
}

// add adds leased jobs, without their documents.
func (c *crew) add(jobs []*fairlead.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, job := range jobs {
		slim := *job
		slim.Args, slim.Memo, slim.Progress = nil, nil, nil
		c.leases[heldOf(job)] = &leased{job: &slim}
	}
}

func heldOf(job *fairlead.Job) driver.Held { return driver.Held{ID: job.ID, Fence: job.Fence} }

// running returns the leases. It reads the jobs of leases made by other servers from the
// store first.
func (s *Service) running(ctx context.Context, c *crew, held []driver.Held) ([]*leased, error) {
	jobs, err := paged.Bare(ctx, s.store, c.keepOnly(held))
	if err != nil {
		return nil, err
	}
	c.add(jobs)
	c.mu.Lock()
	defer c.mu.Unlock()
	var running []*leased
	for _, h := range held {
		if l := c.leases[h]; l != nil { // else it has just ended
			running = append(running, l)
		}
	}
	return running, nil
}

// keepOnly removes leases that have ended, and returns the jobs that are unknown.
func (c *crew) keepOnly(held []driver.Held) (unknown []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := make(map[driver.Held]*leased, len(held))
	for _, h := range held {
		if l := c.leases[h]; l != nil {
			kept[h] = l
		} else {
			unknown = append(unknown, h.ID)
		}
	}
	c.leases = kept
	return unknown
}
