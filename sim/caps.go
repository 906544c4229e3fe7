package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Caps limits the number of concurrently running jobs.
type Caps struct {
	Global  int            // zero = unlimited
	Tenants map[string]int // caps of the tenants, to which jobs are assigned in turn
	PerKey  int            // if set, the jobs of a tenant share a gate with this many slots, and its cap does not apply
}

// of returns the cap of a tenant, or of all jobs for "". Zero means unlimited.
func (c Caps) of(tenant string) int {
	switch {
	case tenant == "":
		return c.Global
	case c.PerKey > 0:
		return c.PerKey
	}
	return c.Tenants[tenant]
}

// names returns the tenants in order.
func (c Caps) names() []string {
	names := make([]string, 0, len(c.Tenants))
	for name := range c.Tenants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// declare sets the caps.
func (c *Cluster) declare(ctx context.Context) error {
	if c.Caps.PerKey > 0 {
		return c.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: work.Name(), PerKey: c.Caps.PerKey})
	}
	for _, name := range c.Caps.names() {
		if _, err := c.client.PutTenant(ctx, fairlead.Tenant{Name: name, MaxRunning: c.Caps.Tenants[name]}); err != nil {
			return fmt.Errorf("declare %s: %w", name, err)
		}
	}
	if c.Caps.Global == 0 {
		return nil
	}
	return c.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: c.Caps.Global})
}

// capsKept checks that the number of running jobs never exceeded a cap. A job counts from
// the time its claim is known until its settlement is about to be sent, but not longer than
// until the end of its node's lease as known to the node. The database grants the lease
// later than the node asked for it, so the slot was taken until then at least. The time at
// which a job was taken back after that is unknown: a reap may be answered late, or its
// node may die first.
func (c *check) capsKept() {
	changes := map[string][]change{} // by tenant; "" for all
	for _, job := range c.jobs() {
		owners := []string{""}
		if tenant := c.Tenants[job]; tenant != "" {
			owners = append(owners, tenant)
		}
		for _, claim := range c.stories[job].claims {
			end := c.endOf(claim)
			for _, owner := range owners {
				changes[owner] = append(changes[owner], change{claim.At, +1, job}, change{end, -1, job})
			}
		}
	}
	for owner, list := range changes {
		allowed := c.Caps.of(owner)
		peak := c.highest(list, func(running int, job int64) {
			if allowed > 0 && running > allowed {
				c.violated(CapExceeded, job, "is number %d to run, of tenant %q, whose cap is %d", running, owner, allowed)
			}
		})
		if owner == "" {
			c.figures.MostRunning = peak
		}
	}
}

// gatesKept checks that the number of jobs with a slot at a gate never exceeded the number
// of slots. A job holds its slot from its first claim until its last settlement is about to
// be sent, including the time when it waits for a retry or was taken back from a dead node.
func (c *check) gatesKept() {
	if c.Caps.PerKey == 0 {
		return
	}
	changes := map[string][]change{} // by tenant; each has one gate
	seen := map[int64]bool{}
	for _, f := range c.Final {
		s := c.stories[f.Job]
		if s == nil || len(s.claims) == 0 || c.Tenants[f.Job] == "" || seen[f.Job] {
			continue
		}
		seen[f.Job] = true
		if end, ok := s.firstAsked(f.Fence); ok {
			tenant := c.Tenants[f.Job]
			changes[tenant] = append(changes[tenant], change{s.claims[0].At, +1, f.Job}, change{end, -1, f.Job})
		}
	}
	for tenant, list := range changes {
		c.highest(list, func(admitted int, job int64) {
			if admitted > c.Caps.PerKey {
				c.violated(GateExceeded, job, "is number %d to be admitted by the gate of tenant %q, which has %d places", admitted, tenant, c.Caps.PerKey)
			}
		})
	}
}

// change is the start or end of a job's run.
type change struct {
	at  Instant
	by  int
	job int64
}

// highest returns the maximum number of concurrent runs. If a run ends and another starts
// in the same microsecond, the end counts as the first.
func (c *check) highest(list []change, began func(running int, job int64)) (peak int) {
	slices.SortFunc(list, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	running := 0
	for _, change := range list {
		running += change.by
		peak = max(peak, running)
		if change.by > 0 {
			began(running, change.job)
		}
	}
	return peak
}

// endOf returns the latest time until which a run is known to count: when its handler ended
// or its settlement was about to be sent, but not after the lease of its node; otherwise
// the end of that lease. If no lease of the node is known, it returns the time at which
// another node took jobs back from dead nodes.
func (c *check) endOf(claim Event) Instant {
	s := c.stories[claim.Job]
	for _, e := range slices.Concat(s.asked, s.ends) {
		if e.Fence != claim.Fence {
			continue
		}
		if until, known := c.leases.trustedUntil(claim.Node, e.At); known {
			return max(claim.At, min(e.At, until))
		}
		return e.At
	}
	if until, known := c.leases.trustedUntil(claim.Node, claim.At); known {
		return max(claim.At, until)
	}
	next, again := s.laterClaim(claim.Fence)
	for _, e := range c.Events { // in order
		if e.What != Reaped || e.Jobs == 0 || e.Sent <= claim.At {
			continue
		}
		if again && e.Sent > next.At {
			break // the job was taken back before, by a call that began before the claim was known or whose node died with the answer
		}
		if c.killedBetween(claim, e.At) {
			return e.Sent
		}
	}
	return claim.At // the end is unknown
}

// killedBetween reports whether the process of a run was killed after its claim and before
// a time.
func (c *check) killedBetween(claim Event, until Instant) bool {
	return slices.ContainsFunc(c.kills, func(e Event) bool {
		return e.Process == claim.Process && e.At >= claim.At && e.At <= until
	})
}
