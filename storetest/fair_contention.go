package storetest

import (
	"math"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testFairContention makes nodes of several processes claim at once, while both tenants
// have more jobs than are claimed.
func testFairContention(f *fixture) {
	const nodes = 4
	starts := f.size(200, 10_000, "measures the shares more exactly")
	most, tolerance := 10, 0.2
	if starts == 10_000 {
		most, tolerance = 50, 0.05
	}
	f.order("", fairlead.OrderFair)
	f.declare(fairlead.Tenant{Name: "heavy", Weight: 3})
	for range 3 {
		f.enqueue(many(starts/10, forTenant("light"))...)
		f.enqueue(many(starts*3/10, forTenant("heavy"))...)
	}
	var counting sync.Mutex
	all, byTenant := 0, map[string]int{}
	count := func(jobs []*fairlead.Job) (more bool) {
		counting.Lock()
		defer counting.Unlock()
		for _, job := range jobs {
			if all < starts {
				all++
				byTenant[job.Tenant]++
			}
		}
		return all < starts
	}
	claimers, errs := make([]func(), nodes), make([]error, nodes)
	for i, process := range f.processes(nodes) {
		node := process.join()
		claimers[i] = func() {
			for more := true; more && errs[i] == nil; {
				var jobs []*fairlead.Job
				jobs, errs[i] = process.store.Claim(f.ctx(), driver.Claim{Node: node, Scope: everything(), Max: most})
				more = count(jobs)
			}
		}
	}
	together(claimers...)
	f.ok(first(errs))
	if part := float64(byTenant["heavy"]) / float64(starts); math.Abs(part/0.75-1) > tolerance {
		f.Errorf("the starts are %v, want 3 : 1", byTenant)
	}
}
