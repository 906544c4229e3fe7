package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// whatIf calls WhatIf like the client.
func (f *fixture) whatIf(question fairlead.WhatIf) fairlead.Forecast {
	f.Helper()
	forecast, err := f.tryWhatIf(question)
	f.ok(err)
	return forecast
}

func (f *fixture) tryWhatIf(question fairlead.WhatIf) (fairlead.Forecast, error) {
	f.Helper()
	return fairlead.NewClient(f.store).WhatIf(f.ctx(), question)
}

// ifLimits returns a question about limits.
func ifLimits(limits ...fairlead.Limit) (question fairlead.WhatIf) {
	for _, limit := range limits {
		question.Changes = append(question.Changes, fairlead.RuleChange{Limit: &limit})
	}
	return question
}

// ifTenants returns a question about tenants.
func ifTenants(tenants ...fairlead.Tenant) (question fairlead.WhatIf) {
	for _, tenant := range tenants {
		question.Changes = append(question.Changes, fairlead.RuleChange{Tenant: &tenant})
	}
	return question
}

func startIDs(outlook fairlead.Outlook) []int64 {
	list := make([]int64, len(outlook.Starts))
	for i, start := range outlook.Starts {
		list[i] = start.Job
	}
	return list
}

// settings contains everything that WhatIf must leave unchanged.
type settings struct {
	Limits  []fairlead.LimitUse
	Tenants []fairlead.Tenant
	Pauses  []fairlead.Pause
	Nodes   []fairlead.Node
	Tally   map[fairlead.State]int64
}

func (f *fixture) settings() (all settings) {
	f.Helper()
	var err error
	all.Limits, err = f.store.Limits(f.ctx())
	f.ok(err)
	all.Pauses, err = f.store.Pauses(f.ctx())
	f.ok(err)
	all.Nodes, err = f.store.Nodes(f.ctx())
	f.ok(err)
	all.Tenants, all.Tally = f.tenants(fairlead.TenantFilter{}), f.tally(fairlead.Filter{})
	return all
}

func testWhatIf(c *chapter) {
	c.testSeeds("what was foreseen is what claims take after the change", testWhatIfHappens)
	c.test("asking what would be changes nothing", func(f *fixture) {
		node := f.joinKnowing(5, kind)
		f.order("", fairlead.OrderFair)
		small := f.declare(fairlead.Tenant{Name: "small", MaxRunning: 9, Rate: 1, Burst: 20, Weight: 3})
		f.enqueue(many(30, forTenant("small"))...)
		f.enqueue(many(30, forTenant("large"))...)
		f.claim(node, 7)
		before := f.settings()
		want := startIDs(f.whatIf(fairlead.WhatIf{Slots: 12}).Before)
		small.MaxRunning, small.Rate, small.Paused = 2, 0.5, true
		f.whatIf(ifTenants(small, fairlead.Tenant{Name: "new", MinRunning: 1}))
		f.whatIf(ifLimits(fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1}, fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, Rate: 1}))
		f.equal("what there is", f.settings(), before)
		f.wantNoDrift()
		got := map[int64]bool{}
		for _, job := range f.claim(node, 12) {
			got[job.ID] = true
		}
		for _, id := range want {
			if !got[id] {
				f.Errorf("job %d was not claimed, as if something had changed", id)
			}
		}
	})
	c.test("without changes both outlooks are the same", func(f *fixture) {
		node := f.joinKnowing(4, kind)
		f.enqueue(many(3)...)
		forecast := f.whatIf(fairlead.WhatIf{Slots: 2})
		f.equal("the outlooks", forecast.After, forecast.Before)
		f.equal("the starts", startIDs(forecast.After), ids(f.claim(node, 2)))
		f.equal("the slots", [2]int{forecast.Slots, forecast.Idle}, [2]int{2, 4})
		f.equal("the moment", forecast.At, f.now())
	})
	c.test("a forecast says who gets later, what holds them back then, and who gets sooner", func(f *fixture) {
		f.joinKnowing(4, kind)
		acme := f.declare(fairlead.Tenant{Name: "acme"})
		f.enqueue(many(4, forTenant("acme"), priority(1))...)
		f.enqueue(many(4, forTenant("beta"))...)
		acme.MaxRunning = 1
		question := ifTenants(acme)
		question.Slots = 4
		forecast := f.whatIf(question)
		f.equal("how many get later and sooner", [2]int{forecast.Later, forecast.Sooner}, [2]int{1, 1})
		full := fairlead.Obstacle{Code: fairlead.AtCap, Scope: fairlead.LimitTenant, Name: "acme", Used: 1, Cap: 1, Text: `tenant "acme" is at its cap: 1 of 1 jobs are running or awaiting a result`}
		f.equal("the waits", forecast.Waits, []fairlead.ForecastWait{
			{Queue: "default", Tenant: "acme", Kind: kind, Effect: fairlead.GetsLater, Before: fairlead.WaitOutlook{Starts: 4, First: 1}, After: fairlead.WaitOutlook{Starts: 1, First: 1, Held: []fairlead.Obstacle{full}}},
			{Queue: "default", Tenant: "beta", Kind: kind, Effect: fairlead.GetsSooner, After: fairlead.WaitOutlook{Starts: 3, First: 2}},
		})
		f.equal("the text", forecast.Text, []string{
			"of 4 slots, 4 would be filled instead of 4: 3 jobs would wait instead of starting, and 3 jobs would start instead of waiting",
			`tenant "acme", kind "greet", queue "default" would start later: 1 of 4 starts instead of 4; newly held back because tenant "acme" is at its cap: 1 of 1 jobs are running or awaiting a result`,
			`tenant "beta", kind "greet", queue "default" would start sooner: 3 of 4 starts instead of 0`,
		})
	})
	c.test("a forecast says when the next token of a rate comes", func(f *fixture) {
		f.joinKnowing(4, kind)
		f.enqueue(many(3)...)
		forecast := f.whatIf(ifLimits(fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, Rate: 0.5, Burst: 1}))
		f.equal("the starts", len(forecast.After.Starts), 1)
		f.equal("when the next may start", forecast.After.Token, f.now().Add(2*time.Second))
		f.equal("when without a rate", forecast.Before.Token, time.Time{})
	})
	c.test("a forecast has no jobs that are paused, parked or served by no node", func(f *fixture) {
		f.joinKnowing(4, kind)
		f.pause(fairlead.Pause{Scope: fairlead.PauseQueue, Name: "closed"})
		f.enqueue(with(inQueue("closed")))
		f.enqueue(with(ofKind("strange")))
		first := f.enqueue(many(2, behind("door"))...)
		forecast := f.whatIf(fairlead.WhatIf{})
		f.equal("the starts", startIDs(forecast.After), []int64{first.ID})
	})
	c.test("a change does not delay jobs that do not move anyway", func(f *fixture) {
		f.pause(fairlead.Pause{Scope: fairlead.PauseQueue, Name: "closed"})
		f.joinKnowing(4, kind)
		acme := f.declare(fairlead.Tenant{Name: "acme"})
		f.enqueue(with(inQueue("closed"), forTenant("acme")))
		f.enqueue(with(ofKind("strange"), forTenant("acme")))
		f.enqueue(with(forTenant("acme")))
		limits := f.whatIf(ifLimits(fairlead.Limit{Scope: fairlead.LimitKind, Name: "strange", Rate: 0.001, Burst: 1}))
		f.equal("who gets later and sooner under a limit", [2]int{limits.Later, limits.Sooner}, [2]int{0, 0})
		acme.Paused = true
		paused := f.whatIf(ifTenants(acme))
		f.equal("who gets later and sooner under a pause", [2]int{paused.Later, paused.Sooner}, [2]int{1, 0})
		f.equal("the lane that gets later", [2]string{paused.Waits[0].Queue, paused.Waits[0].Kind}, [2]string{"default", kind})
	})
	c.test("a forecast compares the recent arrivals and durations with a cap and a rate", func(f *fixture) {
		node := f.joinKnowing(20, kind)
		f.cap(fairlead.LimitKind, kind, 20)
		shop := f.declare(fairlead.Tenant{Name: "shop"})
		f.declare(fairlead.Tenant{Name: "web", Parent: "shop"})
		f.enqueue(many(36, forTenant("web"))...)
		running := f.claim(node, 18)
		f.Advance(20 * time.Second)
		for _, job := range running {
			f.settle(to(fairlead.Succeed, job))
		}
		slow := fairlead.Limit{Scope: fairlead.LimitKind, Name: kind, MaxRunning: 1, Rate: 0.005, Burst: 1}
		forecast := f.whatIf(ifLimits(slow))
		want := fairlead.SteadyState{
			Scope: fairlead.LimitKind, Name: kind, Window: time.Hour, Arrivals: 0.01, Sample: 18, Attempts: 1, Duration: 20 * time.Second, Running: 0.2, Before: 0.01, After: 2,
		}
		f.equal("the steady state of the kind", forecast.Steady, []fairlead.SteadyState{want})
		f.equal("its sentence", forecast.Text[len(forecast.Text)-1],
			`steady state of kind:greet: 0.01 jobs per second arrived in the last 60 min and ran for 20s on average, so about 0.20 run at once; that is 1.00 % of the limit now and 200 % of the limit after the change, so the backlog would grow`)
		want.Scope, want.Name, want.Before, want.After = fairlead.LimitTenant, "shop", 0, 0.1
		shop.MaxRunning = 2
		shop.Version = f.tenants(fairlead.TenantFilter{Names: []string{"shop"}})[0].Version
		f.equal("the steady state of the parent of a tenant", f.whatIf(ifTenants(shop)).Steady, []fairlead.SteadyState{want})
		f.equal("the steady state without a cap or a rate", f.whatIf(ifLimits(fairlead.Limit{Scope: fairlead.LimitKind, Name: "other", PerKey: 2})).Steady, []fairlead.SteadyState{})
	})
	c.test("crash suspects are no part of a forecast", func(f *fixture) {
		f.joinKnowing(4, kind)
		f.suspect()
		f.equal("the starts", startIDs(f.whatIf(fairlead.WhatIf{}).After), []int64{})
	})
	testWhatIfRefused(c)
}

// testWhatIfRefused covers changes that cannot be saved, and rows locked by others.
func testWhatIfRefused(c *chapter) {
	c.test("asking fails as saving does", func(f *fixture) {
		f.cap(fairlead.LimitGlobal, "", 5)
		known := f.declare(fairlead.Tenant{Name: "known", MinRunning: 3})
		child := f.declare(fairlead.Tenant{Name: "child", Parent: "known"})
		known.Parent = "child"
		child.Version++
		for _, tenant := range []fairlead.Tenant{
			known, child, {Name: "known"}, {Name: "gone", Version: 7}, {Name: "new", Parent: "nowhere"}, {Name: "new", Parent: "child"}, {Name: "new", MinRunning: 3},
		} {
			_, saving := f.tryDeclare(tenant)
			_, asking := f.tryWhatIf(ifTenants(tenant))
			f.wantSameRefusal(saving, asking)
		}
		limit := fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 2}
		_, asking := f.tryWhatIf(ifLimits(limit))
		f.wantSameRefusal(f.tryLimit(limit), asking)
	})
	c.test("what is refused of several changes says which of them it is", func(f *fixture) {
		_, err := f.tryWhatIf(ifTenants(fairlead.Tenant{Name: "first"}, fairlead.Tenant{Name: "second", Parent: "nowhere"}))
		f.wantErr(err, fairlead.ErrInvalid)
		f.equal("the error", err.Error(), `invalid: changes[1].parent: "nowhere" does not exist; create it first`)
	})
	c.test("several changes are made one after the other", func(f *fixture) {
		f.whatIf(ifTenants(fairlead.Tenant{Name: "parent"}, fairlead.Tenant{Name: "child", Parent: "parent"}))
	})
	c.test("asking waits for no transaction that has jobs locked", func(f *fixture) {
		f.joinKnowing(4, kind)
		f.cap(fairlead.LimitGlobal, "", 5)
		f.lockable(fairlead.Ready)
		tx := f.replaceIn("k")
		f.doesNotWait("WhatIf", func() error {
			_, err := f.store.WhatIf(f.ctx(), fairlead.WhatIf{Slots: 5})
			return err
		})
		f.ok(tx.Rollback())
	})
	c.test("claims go on while many ask", func(f *fixture) {
		node := f.joinKnowing(4, kind)
		f.cap(fairlead.LimitGlobal, "", 1000)
		claims := f.rounds(50)
		f.enqueue(many(claims)...)
		end := make(chan struct{})
		asked := make(chan error, 4)
		for range cap(asked) {
			go func() {
				for {
					select {
					case <-end:
						asked <- nil
						return
					default:
					}
					if _, err := f.store.WhatIf(f.ctx(), fairlead.WhatIf{Slots: 5}); err != nil {
						asked <- err
						return
					}
				}
			}()
		}
		for range claims {
			jobs, err := f.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: 1})
			f.ok(err)
			f.equal("how many were claimed", len(jobs), 1)
		}
		close(end)
		for range cap(asked) {
			f.ok(<-asked)
		}
	})
}
