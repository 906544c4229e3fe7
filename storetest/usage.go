package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

// wantUsage expects the usage of all jobs, and then of each tenant.
func (f *fixture) wantUsage(want ...fairlead.Usage) {
	f.Helper()
	got, err := f.store.Usage(f.ctx())
	f.ok(err)
	f.equal("the usage", got, want)
}

func (f *fixture) report(starts ...fairlead.Starts) {
	f.Helper()
	f.ok(f.store.Report(f.ctx(), starts))
}

func testUsage(c *chapter) {
	c.test("of nothing there is nothing but the whole", func(f *fixture) {
		f.wantUsage(fairlead.Usage{})
	})
	c.test("live jobs are counted by tenant and state, finished ones are not", func(f *fixture) {
		acme, zeta := forTenant("acme"), forTenant("zeta")
		f.in(fairlead.Scheduled, acme)
		f.in(fairlead.Running, acme)
		f.in(fairlead.Waiting, zeta)
		f.in(fairlead.Succeeded, zeta)
		f.in(fairlead.Failed, forTenant("gone"))
		f.enqueue(many(3, zeta)...)
		f.enqueue(many(3, zeta, behind("g"), ofKind("other"))...)
		f.wantUsage(
			fairlead.Usage{Scheduled: 1, Parked: 2, Ready: 4, Running: 1, Waiting: 1},
			fairlead.Usage{Tenant: "acme", Scheduled: 1, Running: 1},
			fairlead.Usage{Tenant: "zeta", Parked: 2, Ready: 4, Waiting: 1},
		)
	})
	c.test("caps, minimums and rates are shown, also of tenants without jobs", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 100, Rate: 50})
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 10, MinRunning: 2, Rate: 5})
		f.declare(fairlead.Tenant{Name: "plain"})
		f.wantUsage(
			fairlead.Usage{MaxRunning: 100, Rate: 50},
			fairlead.Usage{Tenant: "acme", MaxRunning: 10, MinRunning: 2, Rate: 5},
			fairlead.Usage{Tenant: "plain"},
		)
	})
	c.test("the oldest wait is that of the first acceptable start which has come", func(f *fixture) {
		f.enqueue(with(forTenant("acme"), startBy(f.now().Add(10*time.Second))))
		f.enqueue(with(forTenant("acme"), startBy(f.now().Add(20*time.Second)), priority(5)))
		f.wantUsage(fairlead.Usage{Ready: 2}, fairlead.Usage{Tenant: "acme", Ready: 2})
		f.Advance(time.Minute)
		f.enqueue(with(forTenant("zeta")))
		f.Advance(time.Second)
		f.wantUsage(
			fairlead.Usage{Ready: 3, OldestWait: 51 * time.Second},
			fairlead.Usage{Tenant: "acme", Ready: 2, OldestWait: 51 * time.Second},
			fairlead.Usage{Tenant: "zeta", Ready: 1, OldestWait: time.Second},
		)
	})
	c.test("starts of all nodes are added up over the last minute", func(f *fixture) {
		f.report(fairlead.Starts{Tenant: "acme", Count: 60, Missed: 2}, fairlead.Starts{Tenant: "zeta", Count: 30})
		f.Advance(40 * time.Second)
		f.elsewhere().report(fairlead.Starts{Tenant: "acme", Count: 60, Missed: 1})
		f.report()
		f.wantUsage(
			fairlead.Usage{Started: 2.5, Missed: 3},
			fairlead.Usage{Tenant: "acme", Started: 2, Missed: 3},
			fairlead.Usage{Tenant: "zeta", Started: 0.5},
		)
		f.Advance(30 * time.Second)
		f.report(fairlead.Starts{Tenant: "acme", Count: 6})
		f.wantUsage(fairlead.Usage{Started: 1.1, Missed: 1}, fairlead.Usage{Tenant: "acme", Started: 1.1, Missed: 1})
		f.Advance(2 * time.Minute)
		f.wantUsage(fairlead.Usage{})
	})
	c.test("many tenants report at once", func(f *fixture) {
		starts := make([]fairlead.Starts, 1000)
		for i := range starts {
			starts[i] = fairlead.Starts{Tenant: named("tenant", i), Count: 6}
		}
		errs := f.rivals(4, func(_ int, store fairlead.Store) error { return store.Report(f.ctx(), starts) })
		f.ok(first(errs))
		usage, err := f.store.Usage(f.ctx())
		f.ok(err)
		f.equal("how many there are", len(usage), 1001)
		f.equal("what all started", usage[0].Started, 400.0)
	})
}
