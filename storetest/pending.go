package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
)

func testPending(c *chapter) {
	c.test("a tenant has no more jobs pending than it may", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 3})
		f.enqueue(with(forTenant("acme")), with(forTenant("acme"), notBefore(f.now().Add(time.Hour))))
		f.wantErr(f.tryEnqueue(many(2, forTenant("acme"))...), fairlead.ErrLimit)
		f.enqueue(with(forTenant("acme")))
		f.wantErr(f.tryEnqueue(with(forTenant("acme"))), fairlead.ErrLimit)
		f.equal("its jobs", f.tally(fairlead.Filter{Tenants: []string{"acme"}}), map[fairlead.State]int64{fairlead.Ready: 2, fairlead.Scheduled: 1})
	})
	c.test("jobs that run or have ended are not pending", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		f.running(forTenant("acme"))
		f.settle(to(fairlead.Succeed, f.running(forTenant("acme"))))
		f.enqueue(with(forTenant("acme")))
	})
	c.test("jobs of other tenants do not count", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 2})
		f.enqueue(many(3, forTenant("other"), behind("g"))...)
		f.enqueue(many(3, forTenant("other"), notBefore(f.now().Add(time.Hour)))...)
		f.enqueue(with(forTenant("acme")))
		f.enqueue(with(forTenant("acme")))
		f.wantErr(f.tryEnqueue(with(forTenant("acme"))), fairlead.ErrLimit)
	})
	c.test("of jobs of several tenants all are stored or none", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		f.wantErr(f.tryEnqueue(plain(), with(forTenant("acme")), with(forTenant("acme"))), fairlead.ErrLimit)
		f.equal("all jobs", len(f.find(fairlead.Filter{})), 0)
	})
	c.test("a bound that is raised or removed lets more come", func(f *fixture) {
		acme := f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		f.enqueue(with(forTenant("acme")))
		acme.MaxPending = 2
		acme = f.declare(acme)
		f.enqueue(with(forTenant("acme")))
		f.wantErr(f.tryEnqueue(with(forTenant("acme"))), fairlead.ErrLimit)
		acme.MaxPending = 0
		f.declare(acme)
		f.enqueue(many(5, forTenant("acme"))...)
	})
	c.test("another process obeys a bound before long", func(f *fixture) {
		g := f.elsewhere()
		g.enqueue(with(forTenant("acme")))
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		g.eventually("the bound is known", func() bool { return g.tryEnqueue(with(forTenant("acme"))) != nil })
	})
}
