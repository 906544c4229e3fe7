package storetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/paged"
)

// follow returns the IDs on all pages of a filter.
func (f *fixture) follow(filter fairlead.Filter) (found []int64) {
	f.Helper()
	for more := true; more; more = filter.Below > 0 {
		page, err := f.store.FindPage(f.ctx(), filter)
		f.ok(err)
		if filter.Limit > 0 && len(page.Jobs) > filter.Limit {
			f.Fatalf("a page of %d has %d jobs", filter.Limit, len(page.Jobs))
		}
		if page.Next != 0 && filter.Below != 0 && page.Next >= filter.Below {
			f.Fatalf("the page below %d goes on below %d", filter.Below, page.Next)
		}
		found = append(found, ids(page.Jobs)...)
		filter.Below = page.Next
	}
	return found
}

func testPages(c *chapter) {
	for _, state := range []fairlead.State{fairlead.Ready, fairlead.Scheduled, fairlead.Failed, fairlead.Cancelled} {
		c.test("the first page of a tenant's "+string(state)+" jobs is not empty, though newer jobs are others'", func(f *fixture) {
			var own []*fairlead.Job
			for range 5 {
				own = append(own, f.in(state, forTenant("w1")))
			}
			if state == fairlead.Ready { // so many that a page does not read all of them
				own = many(f.size(300, 21_000, "has more jobs than a page reads as it looks on"), forTenant("w1"))
				for part := range slices.Chunk(own, 500) {
					f.enqueue(part...)
				}
			}
			full := 20_000
			switch {
			case state == fairlead.Ready: // so many that larger windows do not reach the tenant's
				full = 55_000
			case state.Final(): // each is cancelled by itself
				full = 3000
			}
			others := many(f.size(1500, full, "has more jobs of others"), forTenant("w2"), func(job *fairlead.Job) {
				if state == fairlead.Scheduled {
					job.NotBefore = f.now().Add(time.Hour)
				}
			})
			for part := range slices.Chunk(others, 500) {
				f.enqueue(part...)
				if state.Final() {
					for _, job := range part {
						f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
					}
				}
			}
			page, err := f.store.FindPage(f.ctx(), fairlead.Filter{Tenants: []string{"w1"}, States: []fairlead.State{state}, Limit: 1})
			f.ok(err)
			f.equal("the first page", ids(page.Jobs), ids(own[len(own)-1:]))
		})
	}
	c.test("a page that is bounded in bytes ends with the job that fills it", func(f *fixture) {
		jobs := many(9, func(job *fairlead.Job) { job.Args = json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`) })
		f.enqueue(jobs...)
		var found []int64
		for below, pages := int64(0), []int{3, 3, 3}; len(pages) > 0; pages = pages[1:] {
			bounded, bound := paged.Within(f.ctx(), 3000) // three jobs fill the page, sealed or not
			page, err := f.store.FindPage(bounded, fairlead.Filter{Below: below, Limit: 100})
			f.ok(err)
			f.equal("the jobs on the page", len(page.Jobs), pages[0])
			f.equal("whether it was cut", bound.Cut(), true)
			found, below = append(found, ids(page.Jobs)...), page.Next
		}
		f.equal("the jobs on all pages", found, f.follow(fairlead.Filter{}))
		bounded, bound := paged.Within(f.ctx(), 1)
		all, err := f.store.Find(bounded, fairlead.Filter{})
		f.ok(err)
		f.equal("what Find finds all the same", len(all), len(jobs))
		f.equal("whether that was cut", bound.Cut(), false)
	})
	c.test("following FindPage finds what Find does", func(f *fixture) {
		byName := f.enqueueVariety()
		f.enqueue(many(20, forTenant("x"))...)
		for _, state := range possible() {
			f.in(state, ofKind("kind for "+string(state)))
		}
		for _, filter := range []fairlead.Filter{
			{},
			{Tenants: []string{"x"}},
			{Kinds: []string{"a"}},
			{Key: "shared"},
			{States: []fairlead.State{fairlead.Ready}},
			{To: f.now().Add(time.Second)},
			{States: []fairlead.State{fairlead.Failed, fairlead.Succeeded}},
			{IDs: []int64{byName["a1x"].ID, byName["b2y"].ID}},
			{Kinds: []string{"never heard of"}},
		} {
			all := filter
			all.Limit = 1000
			want := ids(f.find(all))
			for _, limit := range []int{1, 3, 1000} {
				filter.Limit = limit
				if got := f.follow(filter); !slices.Equal(got, want) {
					f.Fatalf("pages of %d of %+v have %v, not %v", limit, filter, got, want)
				}
			}
		}
	})
	c.test("FindPage says of the last page that it is", func(f *fixture) {
		jobs := many(5)
		f.enqueue(jobs...)
		for limit, next := range map[int]int64{4: jobs[1].ID, 5: 0, 6: 0} {
			page, err := f.store.FindPage(f.ctx(), fairlead.Filter{Limit: limit})
			f.ok(err)
			f.equal("where the next page begins", page.Next, next)
		}
	})
	c.test("TallyUpTo counts as Tally does, up to a number", func(f *fixture) {
		f.enqueue(many(30, forTenant("x"))...)
		f.in(fairlead.Failed, forTenant("x"))
		for _, filter := range []fairlead.Filter{{}, {Tenants: []string{"x"}}, {States: []fairlead.State{fairlead.Failed}}, {To: f.now().Add(time.Second)}, {Kinds: []string{"none"}}} {
			for _, atMost := range []int64{0, 1000} {
				count, err := f.store.TallyUpTo(f.ctx(), filter, atMost)
				f.ok(err)
				if want := f.tally(filter); !maps.Equal(count.States, want) || count.More {
					f.Fatalf("up to %d of %+v are %v, more: %v, not %v", atMost, filter, count.States, count.More, want)
				}
			}
		}
	})
}
