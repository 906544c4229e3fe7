package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// inTurn sorts jobs in the order of claims: by priority, StartBy and ID.
func inTurn(jobs []*fairlead.Job) []*fairlead.Job {
	sorted := slices.Clone(jobs)
	slices.SortFunc(sorted, func(a, b *fairlead.Job) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.StartBy.Compare(b.StartBy), cmp.Compare(a.ID, b.ID))
	})
	return sorted
}

// mixed returns n jobs over several lanes, in random order, with so few priorities and
// times that every part of the order matters.
func mixed(n, lanes int, now time.Time, random *rand.Rand) []*fairlead.Job {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		lane := random.IntN(lanes)
		jobs[i] = with(
			ofKind(fmt.Sprint("kind ", lane%3)), inQueue(fmt.Sprint("queue ", lane%4)), forTenant(fmt.Sprint("tenant ", lane)),
			priority(random.IntN(5)-2), startBy(now.Add(time.Duration(random.IntN(7)-3)*time.Minute)))
	}
	return jobs
}

// mixedScope returns a scope that covers all jobs of mixed.
func mixedScope() *driver.Scope { return everything("kind 0", "kind 1", "kind 2") }

func testOrder(c *chapter) {
	c.test("higher priority goes first", func(f *fixture) {
		low, high, normal := with(priority(-5)), with(priority(7)), plain()
		top, bottom := with(priority(fairlead.MaxPriority)), with(priority(-fairlead.MaxPriority))
		f.enqueue(low, high, normal, bottom, top)
		f.wantClaim(f.join(), everything(), top, high, normal, low, bottom)
	})
	c.test("of one priority the earlier StartBy goes first", func(f *fixture) {
		now := f.now()
		late, early, middle := with(startBy(now.Add(time.Hour))), with(startBy(now.Add(-time.Hour))), plain()
		long, soon := with(startBy(now.Add(-24*365*80*time.Hour))), with(startBy(now.Add(time.Microsecond)))
		f.enqueue(late, early, middle, long, soon)
		f.wantClaim(f.join(), everything(), long, early, middle, soon, late)
	})
	c.test("of one StartBy the smaller ID goes first", func(f *fixture) {
		jobs := many(20)
		f.enqueue(jobs...)
		f.wantClaim(f.join(), everything(), jobs...)
	})
	c.test("the order goes across queues, tenants and kinds", func(f *fixture) {
		jobs := []*fairlead.Job{
			with(priority(5), ofKind("b")),
			with(priority(4), inQueue("q")),
			with(priority(3), forTenant("t")),
			with(priority(2), ofKind("b"), inQueue("q"), forTenant("t")),
			with(priority(1)),
		}
		for _, job := range slices.Backward(jobs) {
			f.enqueue(job)
		}
		f.wantClaim(f.join(), everything(kind, "b"), jobs...)
	})
	c.test("it is exact over many lanes, however many are claimed at a time", func(f *fixture) {
		random := rand.New(rand.NewPCG(1, 2))
		jobs := mixed(200, 24, f.now(), random)
		f.enqueue(jobs...)
		node, scope, want := f.join(), mixedScope(), ids(inTurn(jobs))
		for len(want) > 0 {
			n := 1 + random.IntN(20)
			got := ids(f.claimAs(driver.Claim{Node: node, Scope: scope, Max: n}))
			next := want[:min(n, len(want))]
			f.equal("the next jobs", got, next)
			want = want[len(next):]
		}
	})
	c.test("Rooms skip a kind and keep the order of the rest", func(f *fixture) {
		jobs := mixed(60, 12, f.now(), rand.New(rand.NewPCG(3, 4)))
		f.enqueue(jobs...)
		room, want := 4, []int64{}
		for _, job := range inTurn(jobs) {
			if job.Kind == "kind 1" {
				room--
			}
			if job.Kind != "kind 1" || room >= 0 {
				want = append(want, job.ID)
			}
		}
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: mixedScope(), Max: 30, Rooms: map[string]int{"kind 1": 4}})
		f.equal("what was claimed", ids(claimed), want[:30])
	})
	c.test("a promoted job takes its place by its StartBy", func(f *fixture) {
		now := f.now()
		scheduled := with(notBefore(now.Add(time.Minute)))
		before, after := with(startBy(now)), with(startBy(now.Add(time.Hour)))
		f.enqueue(scheduled, before, after)
		f.Advance(time.Minute)
		f.promote()
		f.wantClaim(f.join(), everything(), before, scheduled, after)
	})
	c.test("a job that comes back takes its old place", func(f *fixture) {
		jobs, node := many(3), f.join()
		f.enqueue(jobs...)
		first := f.claimThe(jobs[0], node)
		f.settle(to(fairlead.MoveRelease, first))
		first = f.claimThe(jobs[0], node)
		f.settle(again(first, 0))
		f.crash(f.claimThe(jobs[0], f.join()))
		f.wantClaim(node, everything(), jobs...)
	})
}
