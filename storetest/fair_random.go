package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// fairWorld contains random tenants with jobs, and their expected shares.
type fairWorld struct {
	*fixture
	lot     *rand.Rand
	queue   string
	node    fairlead.NodeID
	tenants map[string]*fairTenant
	ready   []*fairlead.Job
}

// fairTenant is a tenant or a family, with its past starts divided by weight.
type fairTenant struct {
	fairlead.Tenant
	had    float64
	family *fairTenant // parent of the tenant, or a family of its own
}

// testFairRandom compares the jobs that a node claims with the entitlements of tenants, job
// by job.
func testFairRandom(f *fixture) {
	for seed := range uint64(f.size(2, 6, "draws more tenants and jobs")) {
		w := &fairWorld{fixture: f, lot: rand.New(rand.NewPCG(seed, 24)), node: f.join(), tenants: map[string]*fairTenant{}}
		w.declareAll(seed)
		for step := range f.size(3, 12, "draws more claims") {
			if step%3 == 0 {
				w.fill(seed)
			}
			most := 1 + w.lot.IntN(f.size(10, 30, "draws larger claims"))
			want := w.choose(most)
			claimed := f.claimAs(driver.Claim{Node: w.node, Scope: everything(w.kinds(seed)...), Max: most})
			got := ids(claimed)
			slices.Sort(got)
			f.equal(fmt.Sprintf("jobs of claim %d with seed %d", step, seed), got, want)
		}
		f.claimAs(driver.Claim{Node: w.node, Scope: everything(w.kinds(seed)...), Max: 10_000}) // the next seed begins without jobs
	}
}

// kinds returns the kinds of one seed.
func (w *fairWorld) kinds(seed uint64) []string {
	return []string{fmt.Sprint("a", seed), fmt.Sprint("b", seed)}
}

// declareAll declares tenants, some with a parent. With even seeds a parent has several
// children.
func (w *fairWorld) declareAll(seed uint64) {
	w.queue = fmt.Sprint("queue ", seed) // jobs started in other queues do not count
	w.order(w.queue, fairlead.OrderFair)
	weight := func() int { return 1 << w.lot.IntN(3) } // powers of two, whose sums are exact
	top := &fairTenant{Tenant: fairlead.Tenant{Name: fmt.Sprint("top ", seed), Weight: weight()}}
	w.declare(top.Tenant)
	for i := range 5 {
		t := &fairTenant{Tenant: fairlead.Tenant{Name: fmt.Sprint("tenant ", seed, " ", i), Weight: weight()}}
		t.family = &fairTenant{Tenant: t.Tenant}
		if i < 3 && seed%2 == 0 || i == 0 {
			t.Parent, t.family = top.Name, top
		}
		w.declare(t.Tenant)
		w.tenants[t.Name] = t
	}
}

// fill enqueues jobs in several lanes and with several priorities, enough that no tenant
// runs out: a store may not notice that immediately, because it did not need to check.
func (w *fairWorld) fill(seed uint64) {
	var jobs []*fairlead.Job
	for i := range w.size(150, 200, "draws more jobs") {
		tenant := fmt.Sprint("tenant ", seed, " ", i%len(w.tenants))
		jobs = append(jobs, with(forTenant(tenant), inQueue(w.queue), ofKind(w.kinds(seed)[w.lot.IntN(2)]), priority(w.lot.IntN(2)*w.lot.IntN(2))))
	}
	w.enqueue(jobs...)
	w.ready = append(w.ready, jobs...)
}

// choose returns the IDs of the jobs that start next, in order.
func (w *fairWorld) choose(most int) []int64 {
	var chosen []int64
	for range most {
		next := w.next()
		w.ready = slices.DeleteFunc(w.ready, func(job *fairlead.Job) bool { return job == next })
		t := w.tenants[next.Tenant]
		t.had += 1 / float64(t.Weight)
		t.family.had += 1 / float64(t.family.Weight)
		chosen = append(chosen, next.ID)
	}
	slices.Sort(chosen)
	return chosen
}

// next returns the job that starts next: each family offers one, and the family with the
// smallest past share comes first. The same applies to the tenants of a family.
func (w *fairWorld) next() *fairlead.Job {
	offers := map[*fairTenant]*fairlead.Job{}
	least := func(whole *fairTenant, job *fairlead.Job, had func(*fairlead.Job) float64) {
		if before := offers[whole]; before == nil || cmp.Or(cmp.Compare(before.Priority, job.Priority), cmp.Compare(had(job), had(before)),
			job.StartBy.Compare(before.StartBy), cmp.Compare(job.ID, before.ID)) < 0 {
			offers[whole] = job
		}
	}
	for _, job := range w.ready {
		least(w.tenants[job.Tenant].family, job, func(job *fairlead.Job) float64 { return w.tenants[job.Tenant].had })
	}
	for _, job := range slices.Collect(maps.Values(offers)) {
		least(nil, job, func(job *fairlead.Job) float64 { return w.tenants[job.Tenant].family.had })
	}
	return offers[nil]
}
