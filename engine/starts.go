package engine

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// reportEvery is how often a node reports what it has started: often enough for
// Usage to show the last minute.
const reportEvery = 5 * time.Second

// starts counts what the node has started since it last reported. A job starts
// with its lease, from which on it counts against limits; whether it is one of
// those few that are given back before their handler begins does not matter here.
type starts struct {
	mu      sync.Mutex
	tenants map[string]fairlead.Starts
}

func newStarts() *starts { return &starts{tenants: map[string]fairlead.Starts{}} }

// add counts jobs that were claimed.
func (s *starts) add(jobs []*fairlead.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range jobs {
		count := fairlead.Starts{Tenant: job.Tenant, Count: 1}
		if fairlead.MissedStart(job) {
			count.Missed = 1
		}
		s.addOne(count)
	}
}

func (s *starts) addOne(more fairlead.Starts) {
	sum := s.tenants[more.Tenant]
	s.tenants[more.Tenant] = fairlead.Starts{Tenant: more.Tenant, Count: sum.Count + more.Count, Missed: sum.Missed + more.Missed}
}

// take returns what was counted and begins anew.
func (s *starts) take() []fairlead.Starts {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := make([]fairlead.Starts, 0, len(s.tenants))
	for _, tenant := range s.tenants {
		taken = append(taken, tenant)
	}
	clear(s.tenants)
	return taken
}

// giveBack undoes take: it could not be reported.
func (s *starts) giveBack(taken []fairlead.Starts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tenant := range taken {
		s.addOne(tenant)
	}
}

// keepReporting reports what was started.
func (l *life) keepReporting(ctx context.Context) {
	reporter := newLoop("report", reportEvery, l.log)
	reporter.run(ctx, func(ctx context.Context) (time.Duration, error) {
		taken := l.starts.take()
		err := l.store.Report(ctx, taken)
		if err != nil {
			l.starts.giveBack(taken)
		}
		return 0, err
	})
}
