package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// boundsAge is the maximum age of cached bounds. Bounds that the process sets itself apply
// immediately.
const boundsAge = time.Second

// Pending rejects new jobs of tenants that have reached their limit of pending jobs. It counts
// committed jobs before the new jobs are stored. Concurrent calls do not count each other's
// jobs.
type Pending struct {
	// Read reads the bounds of the tenants that have one.
	Read func(ctx context.Context) (map[string]int, error)
	// Tally counts jobs like the store's Tally.
	Tally func(ctx context.Context, filter fairlead.Filter) (map[fairlead.State]int64, error)

	mu      sync.Mutex
	bounds  map[string]int
	readAt  time.Time
	forgets int // number of calls of Forget: anything read before the last call is outdated
}

// Forget discards the cached limits. The next check reads them again.
func (p *Pending) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readAt = time.Time{}
	p.forgets++
}

// Check returns ErrLimit if the jobs exceed their tenants' limits of pending jobs.
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

// CheckPending returns ErrLimit if fresh new jobs, in addition to the pending ones, exceed a
// tenant's bound.
func CheckPending(tenant string, pending, fresh, bound int) error {
	if pending+fresh <= bound {
		return nil
	}
	return fmt.Errorf("tenant %q has %d pending jobs; %d more would exceed its limit of %d: %w", tenant, pending, fresh, bound, fairlead.ErrLimit)
}

// Bounds returns the limits of all tenants that have one. They are at most boundsAge old.
// Bounds does not hold the lock while it reads the limits, so other calls do not wait for the
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

// RefusePending checks the jobs one by one, in order, and returns an error for each job that
// exceeds its tenant's limit of pending jobs. The map's keys are indexes into jobs.
// RefusePending calls ask once per tenant. ask returns the tenant's limit, or 0 if it has
// none, and the tenant's number of pending jobs.
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
