package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// order sets the order of a queue, or of the cluster if the name is empty.
func (f *fixture) order(queue string, order fairlead.Order) {
	f.Helper()
	limit := fairlead.Limit{Scope: fairlead.LimitQueue, Name: queue, Order: order}
	if queue == "" {
		limit.Scope = fairlead.LimitGlobal
	}
	f.limit(limit)
}

// startsOf claims a number of jobs for each of some nodes in turn, and counts them by
// tenant.
func (f *fixture) startsOf(times, most int, nodes ...fairlead.NodeID) map[string]int {
	f.Helper()
	starts := map[string]int{}
	for i := range times {
		for _, job := range f.claim(nodes[i%len(nodes)], most) {
			starts[job.Tenant]++
		}
	}
	return starts
}

func testFair(c *chapter) {
	c.test("the order of a queue and of the cluster is kept, listed and removed", func(f *fixture) {
		cluster := fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 9, Order: fairlead.OrderFair}
		queue := fairlead.Limit{Scope: fairlead.LimitQueue, Name: "mail", Order: fairlead.OrderDeadline}
		f.limit(cluster)
		f.limit(queue)
		limits, err := f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits", limits, []fairlead.LimitUse{{Limit: cluster}, {Limit: queue}})
		f.order("", "")
		f.order("mail", "")
		limits, err = f.store.Limits(f.ctx())
		f.ok(err)
		f.equal("the limits after all were removed", limits, []fairlead.LimitUse{})
	})
	c.test("without an order the earliest acceptable start goes first, whatever the weights", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 9})
		f.enqueue(many(20, forTenant("light"))...)
		f.enqueue(many(20, forTenant("heavy"))...)
		f.equal("starts", f.startsOf(2, 10, f.join()), map[string]int{"light": 20})
	})
	c.test("tenants share the starts of several nodes by weight", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 3})
		f.enqueue(many(100, forTenant("light"))...)
		f.enqueue(many(100, forTenant("heavy"))...)
		f.equal("starts", f.startsOf(8, 12, f.join(), f.join()), map[string]int{"heavy": 72, "light": 24})
	})
	c.test("claims of single jobs share too", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 3})
		f.enqueue(many(40, forTenant("light"))...)
		f.enqueue(many(40, forTenant("heavy"))...)
		f.equal("starts", f.startsOf(40, 1, f.join()), map[string]int{"heavy": 30, "light": 10})
	})
	c.test("a tenant gives its starts to its first jobs, in whatever lanes they are", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.enqueue(many(9, forTenant("other"))...)
		late := f.enqueue(with(forTenant("acme"), inQueue("b"), startBy(f.now().Add(9*time.Second))))
		soon := f.enqueue(with(forTenant("acme"), inQueue("a"), startBy(f.now().Add(5*time.Second))))
		jobs := f.claim(f.join(), 2)
		own := of(jobs, func(j *fairlead.Job) bool { return j.Tenant == "acme" })
		f.equal("jobs of the tenant", ids(own), []int64{soon.ID})
		f.wantState(late, fairlead.Ready)
	})
	c.test("a higher priority goes before shares", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 9})
		f.enqueue(many(20, forTenant("heavy"))...)
		f.enqueue(many(10, forTenant("light"), priority(1))...)
		node := f.join()
		f.equal("starts", f.startsOf(1, 10, node), map[string]int{"light": 10})
		f.equal("starts after that", f.startsOf(1, 10, node), map[string]int{"heavy": 10})
	})
	c.test("tenants of a parent share what the parent gets beside others", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "top", Weight: 3})
		f.declare(fairlead.Tenant{Name: "a", Parent: "top", Weight: 2})
		f.declare(fairlead.Tenant{Name: "b", Parent: "top"})
		f.enqueue(many(60, forTenant("solo"))...)
		f.enqueue(many(60, forTenant("a"))...)
		f.enqueue(many(60, forTenant("b"))...)
		f.equal("starts", f.startsOf(5, 12, f.join()), map[string]int{"solo": 15, "a": 30, "b": 15})
	})
	c.test("the order of a queue goes before that of the cluster", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.order("plain", fairlead.OrderDeadline)
		for _, queue := range []string{"plain", "shared"} {
			f.enqueue(many(20, forTenant("first"), inQueue(queue))...)
			f.enqueue(many(20, forTenant("second"), inQueue(queue))...)
		}
		for queue, want := range map[string]map[string]int{"plain": {"first": 10}, "shared": {"first": 5, "second": 5}} {
			starts := map[string]int{}
			scope := &driver.Scope{Kinds: []string{kind}, Queues: []string{queue}}
			for _, job := range f.claimAs(driver.Claim{Node: f.join(), Scope: scope, Max: 10}) {
				starts[job.Tenant]++
			}
			f.equal("starts of queue "+queue, starts, want)
		}
	})
	c.test("tenants share the starts of a queue with an order of its own apart from other queues", func(f *fixture) {
		f.order("shared", fairlead.OrderFair)
		f.enqueue(many(20, forTenant("acme"))...)
		f.startsOf(2, 10, f.join())
		f.enqueue(many(20, forTenant("acme"), inQueue("shared"))...)
		f.enqueue(many(20, forTenant("other"), inQueue("shared"))...)
		f.equal("starts", f.startsOf(2, 10, f.join()), map[string]int{"acme": 10, "other": 10})
	})
	c.test("a tenant whose turn it is keeps others of its queue back, also behind jobs of other queues", func(f *fixture) {
		f.order("shared", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "late", MaxRunning: 9})
		f.declare(fairlead.Tenant{Name: "apart", MaxRunning: 9})
		in := func(queue, tenant string, after time.Duration) *fairlead.Job {
			return f.enqueue(with(inQueue(queue), forTenant(tenant), startBy(f.now().Add(after))))
		}
		first, second := in("shared", "early", time.Second), in("shared", "early", time.Second)
		late, apart := in("shared", "late", time.Minute), in("plain", "apart", 30*time.Second)
		node := f.join()
		for _, job := range []*fairlead.Job{first, apart, late, second} {
			f.claimThe(job, node)
		}
	})
	c.test("a share that a tenant does not use goes to the others", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "few", Weight: 9})
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 3})
		f.enqueue(many(2, forTenant("few"))...)
		f.enqueue(many(40, forTenant("light"))...)
		f.enqueue(many(40, forTenant("heavy"))...)
		f.equal("starts", f.startsOf(1, 42, f.join()), map[string]int{"few": 2, "heavy": 30, "light": 10})
	})
	c.test("caps and minimums hold before shares", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "capped", Weight: 99, MaxRunning: 2})
		f.declare(fairlead.Tenant{Name: "promised", Weight: 1, MinRunning: 5})
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 9})
		for _, tenant := range []string{"capped", "promised", "heavy"} {
			f.enqueue(many(20, forTenant(tenant))...)
		}
		f.equal("starts", f.startsOf(1, 12, f.join()), map[string]int{"capped": 2, "promised": 5, "heavy": 5})
	})
	c.test("a tenant that comes back has saved nothing up", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		node := f.join()
		f.enqueue(many(20, forTenant("returns"))...)
		f.enqueue(many(120, forTenant("stays"))...)
		f.equal("starts", f.startsOf(4, 10, node), map[string]int{"returns": 20, "stays": 20})
		f.startsOf(5, 10, node)
		f.enqueue(many(40, forTenant("returns"))...)
		f.equal("starts after it was away", f.startsOf(2, 10, node), map[string]int{"returns": 10, "stays": 10})
	})
	c.test("tenants share starts among very many lanes", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		jobs := many(60, forTenant("first"))
		for i := range 300 {
			jobs = append(jobs, with(forTenant(fmt.Sprint("tenant ", i))))
		}
		f.enqueue(jobs...)
		node, seen := f.join(), map[string]bool{}
		for i := range 3 {
			starts := f.startsOf(1, 40, node)
			f.equal("starts of the first", starts["first"], 1-min(i, 1))
			for tenant := range starts {
				seen[tenant] = true
			}
		}
		f.equal("tenants that had a start", len(seen), 120)
	})
	c.test("very many tenants of a parent share what the parent gets", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "top", Weight: 3})
		jobs := many(60, forTenant("solo"))
		for i := range f.size(32, 290, "has more tenants than a claim reads at once") {
			name := fmt.Sprint("child ", i)
			f.declare(fairlead.Tenant{Name: name, Parent: "top"})
			jobs = append(jobs, many(2, forTenant(name))...)
		}
		f.enqueue(jobs...)
		node := f.join()
		for range 2 {
			starts := f.startsOf(1, 40, node)
			f.equal("starts of the other tenant", starts["solo"], 10)
			f.equal("tenants that had a start", len(starts), 31)
		}
	})
	c.test("what other nodes have started counts for the shares of a node", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		there := f.elsewhere()
		here, away := f.join(), there.join()
		f.enqueue(many(40, forTenant("wide"))...)
		there.enqueue(many(40, forTenant("wide"), ofKind("other"))...) // stored there, so that its claims know these jobs
		last := there.enqueue(many(40, forTenant("narrow"), ofKind("other"))...)
		claim := func(f *fixture, node fairlead.NodeID, kind string, most int) (starts map[string]int) {
			starts = map[string]int{}
			for _, job := range f.claimAs(driver.Claim{Node: node, Scope: everything(kind), Max: most}) {
				starts[job.Tenant]++
			}
			_, err := f.store.Explain(f.ctx(), last.ID) // Explain makes the nodes of a store learn of each other at once
			f.ok(err)
			return starts
		}
		f.equal("starts while no other node has started any", claim(there, away, "other", 10), map[string]int{"wide": 5, "narrow": 5})
		f.equal("starts of a node that runs jobs of one tenant only", claim(f, here, kind, 40), map[string]int{"wide": 40})
		claim(there, away, "other", 0)
		starts := claim(there, away, "other", 10)
		if starts["narrow"] <= starts["wide"] {
			f.Errorf("the starts are %v: the other node's were not made up for", starts)
		}
	})
	c.test("a claim gives every start to the tenant that has had least for its weight", testFairRandom)
	c.test("crash suspects of tenants that share starts are claimed", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		job := f.suspect()
		f.enqueue(plain())
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: everything(), Max: 10, Solo: true})
		f.equal("the solo claim", ids(claimed), []int64{job.ID})
	})
	c.test("Explain tells the share of a ready job's tenant", func(f *fixture) {
		f.order("", fairlead.OrderFair)
		f.declare(fairlead.Tenant{Name: "heavy", Weight: 3})
		f.enqueue(many(20, forTenant("light"))...)
		f.enqueue(many(20, forTenant("heavy"))...)
		f.startsOf(2, 10, f.join())
		job := f.enqueue(with(forTenant("heavy")))
		e, err := f.store.Explain(f.ctx(), job.ID)
		f.ok(err)
		text := `tenant "heavy" has weight 3: it is entitled to 75 % of the starts of the cluster, and had 75 % in the last minute`
		f.equal("the share", e.Share, &fairlead.Share{Weight: 3, Entitled: 0.75, Had: 0.75, Text: text})
		f.equal("jobs of its tenant before it", e.Ahead, 5)
		there, err := f.elsewhere().store.Explain(f.ctx(), job.ID)
		f.ok(err)
		f.equal("the share as another process tells it", there.Share, e.Share)
	})
	c.test("Explain tells no share by deadline", func(f *fixture) {
		e, err := f.store.Explain(f.ctx(), f.enqueue(plain()).ID)
		f.ok(err)
		f.equal("the share", e.Share, (*fairlead.Share)(nil))
	})
}
