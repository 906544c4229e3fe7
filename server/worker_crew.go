package server

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// crew is what this server remembers of one worker: the jobs that it runs, as far
// as the server has come to know them.
type crew struct {
	leasing sync.Mutex // held while jobs are leased, so that two calls do not fill one slot

	mu         sync.Mutex
	leases     map[driver.Held]*leased
	suspectsAt time.Time     // when it last looked for crash suspects
	freed      chan struct{} // closed when slots become free
	used       time.Time
	large      bool // the jobs leased last took more memory than leases reserve at first

	few int // jobs to lease at once, because those before were large; 0: as many as there are slots
}

// leased is a job that a worker runs.
type leased struct {
	job  *fairlead.Job
	told time.Time // when this server first asked the worker to stop it; zero: not yet
	part *part     // of a sweep that it goes over, if it does and that is known
	idle bool      // its last orders were to begin no items of that
}

// crewOf finds or makes what is remembered of a worker.
func (s *Workers) crewOf(id fairlead.NodeID) *crew {
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

// sweep forgets workers that have not been heard of for so long that they are
// dead, or talk to another server. s.mu is held.
func (s *Workers) sweep(now time.Time) {
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

func (s *Workers) forget(id fairlead.NodeID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.crews, id)
}

// whenFreed is closed once a job of the worker was settled here.
func (c *crew) whenFreed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.freed
}

// settled notes that jobs are no longer leased.
func (c *crew) settled(held []driver.Held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range held {
		delete(c.leases, h)
	}
	close(c.freed)
	c.freed = make(chan struct{})
}

// add notes jobs that were leased, without what makes them large.
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

// running lists the leases, of which those that another server made are read from
// the store first.
func (s *Workers) running(ctx context.Context, c *crew, held []driver.Held) ([]*leased, error) {
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

// keepOnly forgets leases that are over, and lists the jobs that are not known.
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
