package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func (f *fixture) usage() fairlead.UsageReport {
	f.Helper()
	report, err := f.store.Usage(f.ctx())
	f.ok(err)
	return report
}

// wantUsage checks the usage of all jobs, and of each tenant.
func (f *fixture) wantUsage(all fairlead.Usage, tenants ...fairlead.Usage) {
	f.Helper()
	report := f.usage()
	f.equal("the usage of all", report.All, all)
	f.equal("the usage of tenants", report.Tenants, tenants)
}

func (f *fixture) report(starts ...driver.Starts) {
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
			fairlead.Usage{Name: "acme", Scheduled: 1, Running: 1},
			fairlead.Usage{Name: "zeta", Parked: 2, Ready: 4, Waiting: 1},
		)
	})
	c.test("live jobs are counted by queue, too", func(f *fixture) {
		f.enqueue(many(2, inQueue("mail"))...)
		f.enqueue(with(inQueue("mail"), forTenant("acme"), notBefore(f.now().Add(time.Hour))))
		f.running(inQueue("web"))
		f.settle(to(fairlead.Succeed, f.running(inQueue("gone"))))
		f.Advance(time.Second)
		f.equal("the usage of queues", f.usage().Queues, []fairlead.Usage{
			{Name: "mail", Ready: 2, Scheduled: 1, OldestWait: time.Second}, {Name: "web", Running: 1},
		})
	})
	c.test("live jobs are counted by kind, too", func(f *fixture) {
		f.enqueue(many(2, ofKind("mail"))...)
		f.enqueue(with(ofKind("web"), forTenant("acme"), inQueue("other")))
		f.Advance(time.Second)
		f.equal("the usage of kinds", f.usage().Kinds, []fairlead.Usage{
			{Name: "mail", Ready: 2, OldestWait: time.Second}, {Name: "web", Ready: 1, OldestWait: time.Second},
		})
	})
	c.test("live jobs are counted by lane, too", func(f *fixture) {
		f.enqueue(many(2, ofKind("mail"), forTenant("zeta"))...)
		f.enqueue(with(ofKind("mail"), forTenant("acme"), inQueue("other")), with(ofKind("mail"), forTenant("acme"), notBefore(f.now().Add(time.Hour))))
		f.settle(to(fairlead.Succeed, f.running(ofKind("gone"))))
		f.equal("the usage of lanes", f.usage().Lanes, []fairlead.LaneUsage{
			{Queue: "default", Tenant: "acme", Kind: "mail", Scheduled: 1}, {Queue: "default", Tenant: "zeta", Kind: "mail", Ready: 2},
			{Queue: "other", Tenant: "acme", Kind: "mail", Ready: 1},
		})
	})
	c.test("caps, minimums and rates are shown, also of tenants without jobs", func(f *fixture) {
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 100, Rate: 50})
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 10, MinRunning: 2, Rate: 5})
		f.declare(fairlead.Tenant{Name: "plain"})
		f.wantUsage(
			fairlead.Usage{MaxRunning: 100, Rate: 50},
			fairlead.Usage{Name: "acme", MaxRunning: 10, MinRunning: 2, Rate: 5},
			fairlead.Usage{Name: "plain"},
		)
	})
	c.test("a parent also has what it and its children have together", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxRunning: 10})
		f.declare(fairlead.Tenant{Name: "east", Parent: "acme"})
		f.declare(fairlead.Tenant{Name: "west", Parent: "acme"})
		f.in(fairlead.Running, forTenant("acme"))
		f.in(fairlead.Waiting, forTenant("east"))
		f.enqueue(many(3, forTenant("west"))...)
		f.report(driver.Starts{Tenant: "east", Count: 60, Missed: 1})
		f.Advance(time.Second)
		f.wantUsage(
			fairlead.Usage{Running: 1, Waiting: 1, Ready: 3, Started: 1, Missed: 1, OldestWait: time.Second},
			fairlead.Usage{Name: "acme", Running: 1, MaxRunning: 10, Family: &fairlead.FamilyUsage{
				Children: []string{"east", "west"}, Running: 1, Waiting: 1, Ready: 3, Started: 1, Missed: 1, OldestWait: time.Second,
			}},
			fairlead.Usage{Name: "east", Waiting: 1, Started: 1, Missed: 1},
			fairlead.Usage{Name: "west", Ready: 3, OldestWait: time.Second},
		)
	})
	c.test("the oldest wait is that of the first acceptable start which has come", func(f *fixture) {
		f.enqueue(with(forTenant("acme"), startBy(f.now().Add(10*time.Second))))
		f.enqueue(with(forTenant("acme"), startBy(f.now().Add(20*time.Second)), priority(5)))
		f.wantUsage(fairlead.Usage{Ready: 2}, fairlead.Usage{Name: "acme", Ready: 2})
		f.Advance(time.Minute)
		f.enqueue(with(forTenant("zeta")))
		f.Advance(time.Second)
		f.wantUsage(
			fairlead.Usage{Ready: 3, OldestWait: 51 * time.Second},
			fairlead.Usage{Name: "acme", Ready: 2, OldestWait: 51 * time.Second},
			fairlead.Usage{Name: "zeta", Ready: 1, OldestWait: time.Second},
		)
	})
	c.test("starts of all nodes are added up over the last minute", func(f *fixture) {
		f.report(driver.Starts{Tenant: "acme", Count: 60, Missed: 2}, driver.Starts{Tenant: "zeta", Count: 30})
		f.Advance(40 * time.Second)
		f.elsewhere().report(driver.Starts{Tenant: "acme", Count: 60, Missed: 1})
		f.report()
		f.wantUsage(
			fairlead.Usage{Started: 2.5, Missed: 3},
			fairlead.Usage{Name: "acme", Started: 2, Missed: 3},
			fairlead.Usage{Name: "zeta", Started: 0.5},
		)
		f.Advance(30 * time.Second)
		f.report(driver.Starts{Tenant: "acme", Count: 6})
		f.wantUsage(fairlead.Usage{Started: 1.1, Missed: 1}, fairlead.Usage{Name: "acme", Started: 1.1, Missed: 1})
		f.Advance(2 * time.Minute)
		f.wantUsage(fairlead.Usage{})
	})
	c.test("many tenants report at once", func(f *fixture) {
		starts := make([]driver.Starts, f.size(60, 1000, "a thousand tenants report"))
		for i := range starts {
			starts[i] = driver.Starts{Tenant: named("tenant", i), Count: 6}
		}
		errs := f.rivals(4, func(_ int, store Store) error { return store.Report(f.ctx(), starts) })
		f.ok(first(errs))
		report := f.usage()
		f.equal("how many there are", len(report.Tenants), len(starts))
		f.equal("what all started", report.All.Started, 0.4*float64(len(starts)))
	})
}
