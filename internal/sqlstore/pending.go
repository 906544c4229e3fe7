package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// boundsAge is how long a process trusts the bounds that it has read. Bounds that it
// sets itself apply at once.
const boundsAge = time.Second

// Pending refuses jobs of tenants that have as many as they may. It counts what is
// committed, before the jobs are stored: it judges each of several concurrent calls as
// if it were alone.
type Pending struct {
	// Read reads the bounds of those tenants that have one.
	Read func(ctx context.Context) (map[string]int, error)
	// Tally counts jobs, as the store does.
	Tally func(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error)

	mu      sync.Mutex
	bounds  map[string]int
	readAt  time.Time
	forgets int // how often Forget was called: what was read before the last call is old
}

// Forget makes the next check read the bounds.
func (p *Pending) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readAt = time.Time{}
	p.forgets++
}

// Check returns ErrLimit if there are too many jobs.
func (p *Pending) Check(ctx context.Context, jobs []*fairlead.Job) error {
	bounds, err := p.Bounds(ctx)
	if err != nil || len(bounds) == 0 {
		return err
	}
	fresh := map[string]int{}
	for _, job := range jobs {
		if bounds[job.Tenant] > 0 {
			fresh[job.Tenant]++
		}
	}
	for tenant, n := range fresh {
		tally, err := p.Tally(ctx, fairlead.Filter{Tenants: []string{tenant}, States: PendingStates()})
		if err != nil {
			return err
		}
		pending := 0
		for _, count := range tally {
			pending += int(count)
		}
		if err := CheckPending(tenant, pending, n, bounds[tenant]); err != nil {
			return err
		}
	}
	return nil
}

// CheckPending returns ErrLimit if new jobs do not fit.
func CheckPending(tenant string, pending, fresh, bound int) error {
	if pending+fresh <= bound {
		return nil
	}
	return fmt.Errorf("tenant %q has %d pending jobs of at most %d: %d more exceed the limit: %w", tenant, pending, bound, fresh, fairlead.ErrLimit)
}

// Bounds returns the bounds of the tenants that have one, as of a moment ago. It does
// not hold the lock while it reads them, so that other calls need not wait for the
// database.
func (p *Pending) Bounds(ctx context.Context) (map[string]int, error) {
	p.mu.Lock()
	bounds, fresh, forgets := p.bounds, time.Since(p.readAt) < boundsAge, p.forgets
	p.mu.Unlock()
	if fresh {
		return bounds, nil
	}
	began := time.Now()
	bounds, err := p.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read limits of tenants: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forgets == forgets {
		p.bounds, p.readAt = bounds, began
	}
	return bounds, nil
}

// RefusePending refuses those of some jobs that are more than their tenants may have
// pending, in their order, each by itself. It asks once per tenant how many jobs that may
// have pending, zero if there is no bound, and how many it has.
func RefusePending(jobs []*fairlead.Job, ask func(tenant string) (bound, pending int, err error)) (refused map[int]error, err error) {
	type room struct{ bound, pending int }
	rooms := map[string]*room{}
	refused = map[int]error{}
	for i, job := range jobs {
		has, asked := rooms[job.Tenant]
		if !asked {
			has = &room{}
			if has.bound, has.pending, err = ask(job.Tenant); err != nil {
				return nil, err
			}
			rooms[job.Tenant] = has
		}
		if has.bound <= 0 {
			continue
		}
		if refusal := CheckPending(job.Tenant, has.pending, 1, has.bound); refusal != nil {
			refused[i] = refusal
			continue
		}
		has.pending++
	}
	return refused, nil
}
