package storetest

import (
	"github.com/fairlead-io/fairlead"
)

// testHeldLimits covers changes of the limits while a caller's transaction has locked a
// running or waiting job: they neither fail nor wait for the transaction, and claims
// continue.
func testHeldLimits(c *chapter) {
	for _, ends := range []ending{commits, rollsBack} {
		for name, change := range map[string]func(f *fixture) error{
			"a limit is set": func(f *fixture) error {
				return f.tryLimit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: 3})
			},
			"the limit of a tenant is set": func(f *fixture) error {
				_, err := f.store.PutTenant(f.ctx(), fairlead.Tenant{Name: fairlead.DefaultTenant, MaxRunning: 3})
				return err
			},
			"a limit is removed": func(f *fixture) error {
				if err := f.tryLimit(fairlead.Limit{Scope: fairlead.LimitKind, Name: kind}); err != nil {
					return err
				}
				return f.tryLimit(fairlead.Limit{Scope: fairlead.LimitQueue, Name: fairlead.DefaultQueue, MaxRunning: 3})
			},
		} {
			c.test(named(name, "while a transaction holds a running job and then", ends), func(f *fixture) {
				f.cap(fairlead.LimitKind, kind, 100)
				f.enqueue(many(10)...)
				node := f.join()
				jobs := f.claim(node, 2)
				tx := f.beginLocking()
				f.settleIn(tx, []fairlead.Settled{asAsked}, success(jobs[0], `1`))
				f.doesNotWait("the change", func() error { return change(f) })
				f.doesNotWait("Pause", func() error { return f.store.Pause(f.ctx(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}) })
				f.doesNotWait("Resume", func() error { return f.store.Resume(f.ctx(), fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}) })
				f.wantNoDrift()
				f.settle(success(jobs[1], `1`))
				f.claim(node, 1)
				f.ok(ends.end(tx))
				f.eventually("the job counts against the limits that there are", func() bool {
					f.promote()
					return f.used(fairlead.LimitQueue, fairlead.DefaultQueue)+f.used(fairlead.LimitTenant, fairlead.DefaultTenant) == ends.running(1, 2)
				})
				f.wantNoDrift()
				f.wantClaimed(node, 3-ends.running(1, 2))
			})
		}
	}
}

// used returns the number of jobs that count against a limit, or zero if there is no limit.
func (f *fixture) used(scope fairlead.LimitScope, name string) int {
	f.Helper()
	limits, err := f.store.Limits(f.ctx())
	f.ok(err)
	for _, l := range limits {
		if l.Scope == scope && l.Name == name {
			return l.Running
		}
	}
	return 0
}

// running returns the number of running jobs after the end: the first if the transaction
// commits, else the second.
func (e ending) running(committed, rolledBack int) int {
	if e == commits {
		return committed
	}
	return rolledBack
}
