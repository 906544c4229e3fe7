package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
)

// between is the time between two looks. It is as long as the longest pause of a witness,
// so that the speed of the machine does not matter.
const between = time.Minute

// witness returns a witness that retains holds for a week.
func (f *fixture) witness() *hold.Witness { return hold.NewWitness(f.store, between, 7*24*time.Hour) }

// watch makes a witness look a number of times, and advances the clock before each look.
// Nodes retain their leases and report idle free slots.
func (f *fixture) watch(w *hold.Witness, looks, idle int, nodes ...fairlead.NodeID) {
	f.Helper()
	for range looks {
		f.Advance(between)
		for _, node := range nodes {
			_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: lease, Idle: idle})
			f.ok(err)
		}
		f.ok(w.Look(f.ctx()))
	}
}

// wantNoLooks fails if there was a look, because no method can remove the record of a look.
func (f *fixture) wantNoLooks() error {
	state, err := f.store.HoldLook(f.ctx())
	if err == nil && state.Version != 0 {
		err = errors.New("there was a look at what waits")
	}
	return err
}

// heldBack returns the causes that currently keep jobs from starting.
func (f *fixture) heldBack() []hold.Cause {
	f.Helper()
	sight, err := f.store.HeldBack(f.ctx(), hold.Place{})
	f.ok(err)
	f.equal("the time", sight.Now, f.now())
	causes := make([]hold.Cause, len(sight.Seen))
	for i, seen := range sight.Seen {
		causes[i] = seen.Cause
	}
	return causes
}

// holds returns holds, oldest first.
func (f *fixture) holds(filter hold.Filter) []hold.Hold {
	f.Helper()
	f.ok(hold.Normalize(&filter))
	page, err := f.store.Holds(f.ctx(), filter)
	f.ok(err)
	slices.Reverse(page.Holds)
	return page.Holds
}

// keep stores the findings of a look after the last one.
func (f *fixture) keep(found hold.Found) bool {
	f.Helper()
	state, err := f.store.HoldLook(f.ctx())
	f.ok(err)
	found.Version, found.Next, found.Now = state.Version, state.Version+1, state.Now
	kept, err := f.store.KeepHolds(f.ctx(), found)
	f.ok(err)
	return kept
}

// slow returns a hold of a queue, with a different value in each of its fields.
func slow(id int64, from, until time.Time) hold.Hold {
	return hold.Hold{
		ID: id, Cause: hold.Cause{Code: fairlead.AtCap, Scope: fairlead.LimitQueue, Queue: "slow"}, From: from, Until: until, Used: 3, Cap: 2,
	}
}

func testHolds(c *chapter) {
	c.test("nothing holds back what can start, nor what is not there", func(f *fixture) {
		f.equal("without jobs", f.heldBack(), []hold.Cause{})
		f.joinIdle()
		f.pause(queuePause("other"))
		f.enqueue(plain())
		f.equal("with a job", f.heldBack(), []hold.Cause{})
	})
	c.test("what holds jobs back is what Explain says of them", func(f *fixture) {
		f.joinIdle()
		f.declare(fairlead.Tenant{Name: "top", Paused: true})
		f.declare(fairlead.Tenant{Name: "acme", Parent: "top"})
		f.pause(queuePause("slow"), kindPause("mail"))
		f.cap(fairlead.LimitTenant, "full", 1)
		f.running(forTenant("full"), inQueue("slots"))
		f.limit(fairlead.Limit{Scope: fairlead.LimitGlobal, Rate: 0.001, Burst: 1})
		f.running(inQueue("slots"))
		f.enqueue(with(forTenant("acme"), inQueue("slow")), with(forTenant("full")), with(ofKind("mail")))
		f.enqueue(many(2, behind("k"))...)
		want := []hold.Cause{
			{Code: fairlead.IsPaused, Scope: fairlead.LimitQueue, Queue: "slow"},
			{Code: fairlead.IsPaused, Scope: fairlead.LimitTenant, Tenant: "top"},
			{Code: fairlead.OverRate, Scope: fairlead.LimitGlobal},
			{Code: fairlead.AtCap, Scope: fairlead.LimitTenant, Tenant: "full"},
			{Code: fairlead.IsPaused, Scope: fairlead.LimitKind, Kind: "mail"},
			{Code: fairlead.NoNode, Queue: fairlead.DefaultQueue, Kind: "mail"},
			{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: fairlead.DefaultTenant, Kind: kind, Gate: "k"},
		}
		got := f.heldBack()
		for _, cause := range want {
			if !slices.Contains(got, cause) {
				f.Errorf("%+v is missing in %+v", cause, got)
			}
		}
		f.equal("how many there are", len(got), len(want))
	})
	c.test("busy nodes hold jobs back", func(f *fixture) {
		f.join()
		f.enqueue(plain())
		f.equal("the causes", f.heldBack(), []hold.Cause{{Code: fairlead.NoSlot, Queue: fairlead.DefaultQueue, Kind: kind}})
	})
	c.test("a look sees at most so many lanes, and the next one those behind them", func(f *fixture) {
		var jobs []*fairlead.Job
		for i := range hold.LanesPerLook + 3 {
			jobs = append(jobs, with(inQueue(fmt.Sprintf("q%d", i))))
		}
		f.enqueue(jobs...)
		first, err := f.store.HeldBack(f.ctx(), hold.Place{})
		f.ok(err)
		second, err := f.store.HeldBack(f.ctx(), first.Next)
		f.ok(err)
		f.equal("whether the round is over", []bool{first.Whole, second.Whole}, []bool{false, true})
		f.equal("how many lanes", []int{len(first.Seen), len(second.Seen)}, []int{hold.LanesPerLook, 3})
	})
	c.test("a look sees at most so many gates, and the next one those behind them", func(f *fixture) {
		var jobs []*fairlead.Job
		for i := range hold.GatesPerLook + 3 {
			jobs = append(jobs, many(2, behind(fmt.Sprint(i)))...)
		}
		f.joinIdle()
		f.enqueue(jobs...)
		first, err := f.store.HeldBack(f.ctx(), hold.Place{})
		f.ok(err)
		second, err := f.store.HeldBack(f.ctx(), first.Next)
		f.ok(err)
		f.equal("how many gates", []int{len(first.Seen), len(second.Seen)}, []int{hold.GatesPerLook, 3})
		f.equal("what a gate has", []int{second.Seen[0].Used, second.Seen[0].Cap}, []int{1, 1})
	})
	testKeptHolds(c)
}

func testKeptHolds(c *chapter) {
	c.test("holds are kept with all that is known of them", func(f *fixture) {
		from := f.now()
		whole := hold.Hold{ID: 2, Cause: hold.Cause{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Queue: "q ä", Tenant: "T ", Kind: "k", Gate: "g'"}, From: from.Add(time.Microsecond)}
		over := slow(1, from, from.Add(time.Hour))
		f.equal("whether it was kept", f.keep(hold.Found{Due: time.Minute, Begun: []hold.Hold{over, whole}}), true)
		f.equal("all holds as another process lists them", f.elsewhere().holds(hold.Filter{}), []hold.Hold{over, whole})
		open, err := f.store.OpenHolds(f.ctx())
		f.ok(err)
		f.equal("those that last", open, []hold.Hold{whole})
		state, err := f.store.HoldLook(f.ctx())
		f.ok(err)
		f.equal("how looks stand", state, hold.LookState{Version: 1, At: from, Due: from.Add(time.Minute), Since: from, LastID: 2, Now: from})
	})
	c.test("a look that another has overtaken keeps nothing", func(f *fixture) {
		f.equal("the first", f.keep(hold.Found{Begun: []hold.Hold{slow(1, f.now(), time.Time{})}}), true)
		for _, version := range []int64{0, 7} {
			kept, err := f.store.KeepHolds(f.ctx(), hold.Found{Version: version, Next: 9, Now: f.now(), Begun: []hold.Hold{slow(2, f.now(), time.Time{})}, Ended: []hold.Hold{slow(1, f.now(), f.now())}})
			f.ok(err)
			f.equal("whether it was kept", kept, false)
		}
		f.equal("the holds", f.holds(hold.Filter{}), []hold.Hold{slow(1, f.now(), time.Time{})})
	})
	c.test("of many looks at the same instant one is kept", func(f *fixture) {
		f.share(1, func(store Store) (int, error) {
			kept, err := store.KeepHolds(f.ctx(), hold.Found{Next: 5, Now: f.now()})
			if kept {
				return 1, err
			}
			return 0, err
		})
	})
	c.test("a hold ends once", func(f *fixture) {
		from := f.now()
		f.keep(hold.Found{Begun: []hold.Hold{slow(1, from, time.Time{}), slow(2, from, time.Time{})}})
		f.keep(hold.Found{Ended: []hold.Hold{slow(1, from, from.Add(time.Second))}})
		f.keep(hold.Found{Ended: []hold.Hold{slow(1, from, from.Add(time.Hour)), slow(2, from, from.Add(time.Minute))}})
		f.equal("the holds", f.holds(hold.Filter{}), []hold.Hold{slow(1, from, from.Add(time.Second)), slow(2, from, from.Add(time.Minute))})
	})
	c.test("holds are listed that concern what is asked for, page by page", func(f *fixture) {
		from := f.now()
		f.declare(fairlead.Tenant{Name: "top"})
		f.declare(fairlead.Tenant{Name: "acme", Parent: "top"})
		var begun []hold.Hold
		for i, cause := range []hold.Cause{
			{Code: fairlead.AtCap, Scope: fairlead.LimitGlobal},
			{Code: fairlead.IsPaused, Scope: fairlead.LimitQueue, Queue: "slow"},
			{Code: fairlead.IsPaused, Scope: fairlead.LimitTenant, Tenant: "acme"},
			{Code: fairlead.IsPaused, Scope: fairlead.LimitTenant, Tenant: "top"},
			{Code: fairlead.NoNode, Queue: "slow", Kind: "mail"},
		} {
			begun = append(begun, hold.Hold{ID: int64(i + 1), Cause: cause, From: from.Add(time.Duration(i) * time.Minute), Until: from.Add(time.Hour)})
		}
		f.keep(hold.Found{Begun: begun})
		for name, want := range map[string]struct {
			filter hold.Filter
			ids    []int64
		}{
			"all":                       {hold.Filter{}, []int64{1, 2, 3, 4, 5}},
			"of a queue":                {hold.Filter{Queue: "slow"}, []int64{1, 2, 3, 4, 5}},
			"of another queue":          {hold.Filter{Queue: "other"}, []int64{1, 3, 4}},
			"of a tenant and parent":    {hold.Filter{Tenant: "acme"}, []int64{1, 2, 3, 4, 5}},
			"of another tenant":         {hold.Filter{Tenant: "zeta"}, []int64{1, 2, 5}},
			"of a queue and a kind":     {hold.Filter{Queue: "slow", Kind: "call"}, []int64{1, 2, 3, 4}},
			"that began before":         {hold.Filter{To: from.Add(time.Minute)}, []int64{1}},
			"that lasted":               {hold.Filter{From: from.Add(time.Hour - 1)}, []int64{1, 2, 3, 4, 5}},
			"that lasted until then":    {hold.Filter{From: from.Add(time.Hour)}, nil},
			"the newest":                {hold.Filter{Limit: 2}, []int64{4, 5}},
			"the newest of those below": {hold.Filter{Limit: 2, Below: 4}, []int64{2, 3}},
		} {
			var got []int64
			for _, h := range f.holds(want.filter) {
				got = append(got, h.ID)
			}
			f.equal(name, got, want.ids)
		}
		page, err := f.store.Holds(f.ctx(), hold.Filter{Limit: 2, Below: 4})
		f.ok(err)
		f.equal("where the next page begins", page.Next, int64(2))
		page, err = f.store.Holds(f.ctx(), hold.Filter{Limit: 5})
		f.ok(err)
		f.equal("where the page after the last begins", page.Next, int64(0))
	})
	c.test("holds that ended too long ago are removed, and what is kept is known", func(f *fixture) {
		first := f.now()
		f.keep(hold.Found{Due: 24 * time.Hour, Begun: []hold.Hold{slow(1, first, first), slow(2, first, first.Add(time.Second)), slow(3, first, first.Add(time.Hour)), slow(4, first, time.Time{})}})
		f.Advance(2 * time.Hour)
		for _, want := range []int{1, 1, 0} {
			removed, err := f.store.PruneHolds(f.ctx(), 90*time.Minute, 100, 1)
			f.ok(err)
			f.equal("how many were removed", removed, want)
		}
		f.equal("what is left", f.holds(hold.Filter{}), []hold.Hold{slow(3, first, first.Add(time.Hour)), slow(4, first, time.Time{})})
		state, err := f.store.HoldLook(f.ctx())
		f.ok(err)
		f.equal("since when all are kept", state.Since, first.Add(30*time.Minute))
		_, err = f.store.PruneHolds(f.ctx(), fairlead.Forever, 100, 10)
		f.ok(err)
		f.equal("what is left when all is kept", len(f.holds(hold.Filter{})), 2)
	})
	c.test("of too many holds those that ended first are removed, and what is kept is known", func(f *fixture) {
		first := f.now()
		f.keep(hold.Found{Due: time.Hour, Begun: []hold.Hold{
			slow(1, first, first.Add(3*time.Second)), slow(2, first, first.Add(time.Second)), slow(3, first, time.Time{}), slow(4, first, first.Add(2*time.Second)),
		}})
		f.Advance(time.Minute)
		removed, err := f.store.PruneHolds(f.ctx(), time.Hour, 2, 10)
		f.ok(err)
		f.equal("how many were removed", removed, 2)
		f.equal("what is left", f.holds(hold.Filter{}), []hold.Hold{slow(1, first, first.Add(3*time.Second)), slow(3, first, time.Time{})})
		state, err := f.store.HoldLook(f.ctx())
		f.ok(err)
		f.equal("since when all are kept", state.Since, first.Add(2*time.Second))
	})
}
