package storetest

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testMinimums(c *chapter) {
	c.test("a tenant below its minimum goes before others, as far as it is short of it", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 4)
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 2})
		f.enqueue(many(9, forTenant("large"), priority(5))...)
		f.enqueue(many(9, forTenant("small"))...)
		jobs := f.wantClaimed(f.join(), 4)
		f.equal("jobs of the small one", len(of(jobs, func(j *fairlead.Job) bool { return j.Tenant == "small" })), 2)
	})
	c.test("a claim that has room for few gives it to those below their minimum", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 1})
		f.enqueue(many(3, forTenant("large"), priority(5))...)
		small := f.enqueue(with(forTenant("small")))
		jobs := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1})
		f.equal("what was claimed", ids(jobs), []int64{small.ID})
	})
	c.test("a minimum that is in use promises no more", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 1})
		f.enqueue(many(2, forTenant("small"))...)
		f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1})
		large := f.enqueue(with(forTenant("large"), priority(5)))
		jobs := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 1})
		f.equal("what was claimed", ids(jobs), []int64{large.ID})
	})
	c.test("a minimum keeps nothing free for a tenant without ready jobs", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 3)
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 2})
		f.enqueue(many(9)...)
		f.wantClaimed(f.join(), 3)
	})
	c.test("a minimum does not lift a cap", func(f *fixture) {
		f.cap(fairlead.LimitKind, kind, 1)
		f.declare(fairlead.Tenant{Name: "small", MinRunning: 3})
		f.enqueue(many(9, forTenant("small"))...)
		f.wantClaimed(f.join(), 1)
	})
}
