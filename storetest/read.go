package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

func testGet(c *chapter) {
	c.test("an unknown ID gets ErrNotFound", func(f *fixture) {
		for _, id := range []int64{unknown, 0, -1} {
			_, err := f.store.Get(f.ctx(), id)
			f.wantErr(err, fairlead.ErrNotFound)
		}
	})
	for _, state := range possible() {
		c.test(named("a", state, "job says so"), func(f *fixture) {
			f.wantState(f.in(state), state)
		})
	}
	c.test("a scheduled job tells when it is due", func(f *fixture) {
		at := f.now().Add(time.Hour)
		f.equal("NotBefore", f.get(f.enqueue(with(notBefore(at)))).NotBefore, at)
	})
	c.test("a running job tells who runs it since when", func(f *fixture) {
		job := f.enqueue(plain())
		f.Advance(time.Minute)
		claimed := f.claimThe(job, f.join())
		found := f.get(job)
		f.equal("Node", found.Node, claimed.Node)
		f.equal("Fence", found.Fence, claimed.Fence)
		f.equal("Attempt", found.Attempt, 1)
		f.equal("StartedAt", found.StartedAt, f.now())
		f.equal("FinishedAt", found.FinishedAt, time.Time{})
	})
	c.test("a waiting job tells its fence and deadline", func(f *fixture) {
		job := f.running()
		started := f.now()
		f.Advance(time.Minute)
		f.settle(wait(job))
		found := f.wantState(job, fairlead.Waiting)
		f.equal("Fence", found.Fence, job.Fence)
		f.equal("Node", found.Node, job.Node)
		f.equal("StartedAt", found.StartedAt, started)
		f.equal("Deadline", found.Deadline, f.now().Add(time.Hour))
	})
	c.test("a finished job tells how its last run went", func(f *fixture) {
		job := f.running()
		started := f.now()
		f.Advance(time.Minute)
		failure := to(fairlead.Fail, job)
		failure.Reason, failure.Error = fairlead.ReasonPanic, "oh no"
		f.settle(failure)
		found := f.wantState(job, fairlead.Failed)
		f.equal("Fence", found.Fence, job.Fence)
		f.equal("Node", found.Node, job.Node)
		f.equal("Attempt", found.Attempt, 1)
		f.equal("StartedAt", found.StartedAt, started)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("Reason", found.Reason, fairlead.ReasonPanic)
		f.equal("Error", found.Error, "oh no")
	})
	c.test("every process sees the same", func(f *fixture) {
		g := f.elsewhere()
		for _, state := range possible() {
			job := f.in(state, ofKind("kind for "+string(state)))
			f.equal("the job", g.get(job), f.get(job))
		}
	})
}

func testAttempts(c *chapter) {
	c.test("it lists failed runs and crashes, oldest first", func(f *fixture) {
		job := f.running()
		first := fairlead.Attempt{Run: 1, Fence: job.Fence, Node: job.Node, StartedAt: f.now(), Reason: fairlead.ReasonTimeout, Error: "too slow"}
		f.Advance(time.Second)
		first.FinishedAt = f.now()
		timeout := again(job, 0)
		timeout.Reason, timeout.Error = first.Reason, first.Error
		f.settle(timeout)

		f.Advance(time.Second)
		job = f.claimThe(job, f.join())
		second := fairlead.Attempt{Run: 2, Fence: job.Fence, Node: job.Node, StartedAt: f.now(), Reason: fairlead.ReasonCrash}
		f.Advance(time.Second)
		second.FinishedAt = f.now()
		f.crash(job)

		f.Advance(time.Second)
		job = f.claimThe(job, f.join())
		third := fairlead.Attempt{Run: 3, Fence: job.Fence, Node: job.Node, StartedAt: f.now(), FinishedAt: f.now(), Reason: fairlead.ReasonFatal, Error: "hopeless"}
		failure := to(fairlead.Fail, job)
		failure.Reason, failure.Error = third.Reason, third.Error
		f.settle(failure)

		got := f.attempts(job)
		if len(got) == 3 {
			got[1].Error = "" // stores may word crash errors freely
		}
		f.equal("the attempts", got, []fairlead.Attempt{first, second, third})
	})
	c.test("it does not list runs that went well or were given back", func(f *fixture) {
		job := f.running()
		f.settle(to(fairlead.MoveRelease, job))
		job = f.claimThe(job, job.Node)
		snooze := to(fairlead.Snooze, job)
		snooze.After = time.Second
		f.settle(snooze)
		f.Advance(time.Second)
		f.promote()
		f.settle(to(fairlead.Succeed, f.claimThe(job, job.Node)))
		f.equal("the attempts", f.attempts(job), []fairlead.Attempt(nil))
	})
	c.test("an unknown job has none", func(f *fixture) {
		f.equal("the attempts", f.attempts(&fairlead.Job{ID: unknown}), []fairlead.Attempt(nil))
	})
}

func testNow(c *chapter) {
	c.test("it is the database's clock, to the microsecond", func(f *fixture) {
		g := f.elsewhere()
		before := f.now()
		f.Advance(time.Hour + time.Microsecond)
		f.equal("the clock", f.now(), before.Add(time.Hour+time.Microsecond))
		f.equal("the clock of another process", g.now(), f.now())
	})
}

func testFind(c *chapter) {
	c.test("newest first", func(f *fixture) {
		var want []int64
		for _, state := range possible() {
			want = append(want, f.in(state).ID)
		}
		slices.Reverse(want)
		f.equal("the jobs", ids(f.find(fairlead.Filter{})), want)
	})
	c.test("it returns what Get returns", func(f *fixture) {
		for _, state := range possible() {
			f.in(state, keyed(string(state)))
		}
		for _, job := range f.find(fairlead.Filter{}) {
			f.equal("the job", job, f.get(job))
		}
	})
	c.test("Limit is how many it returns, 100 if zero", func(f *fixture) {
		jobs := append(many(60), many(60, notBefore(f.now().Add(time.Hour)))...)
		f.enqueue(jobs...)
		all := ids(jobs)
		slices.Reverse(all)
		f.equal("without a limit", ids(f.find(fairlead.Filter{})), all[:100])
		f.equal("with a small one", ids(f.find(fairlead.Filter{Limit: 3})), all[:3])
		f.equal("with a large one", ids(f.find(fairlead.Filter{Limit: 500})), all)
	})
	c.test("Below is where the next page starts", func(f *fixture) {
		jobs := many(10)
		f.enqueue(jobs...)
		f.equal("the page", ids(f.find(fairlead.Filter{Below: jobs[5].ID, Limit: 2})), []int64{jobs[4].ID, jobs[3].ID})
		f.equal("after the last", ids(f.find(fairlead.Filter{Below: jobs[0].ID})), []int64(nil))
	})
	c.test("it finds the lanes that another process made", func(f *fixture) {
		g := f.elsewhere()
		f.find(fairlead.Filter{Kinds: []string{kind}})
		job := g.enqueue(with(ofKind("made elsewhere"), forTenant("far"), inQueue("away")))
		f.equal("by kind", ids(f.find(fairlead.Filter{Kinds: []string{job.Kind}})), []int64{job.ID})
		f.equal("by tenant", f.tally(fairlead.Filter{Tenants: []string{"far"}}), map[fairlead.State]int64{fairlead.Ready: 1})
		f.equal("the job", f.find(fairlead.Filter{})[0].Queue, "away")
	})
	testPages(c)
	testManyPages(c)
	testOutOfOrder(c)
	testFilter(c)
	testCreated(c)
	testFinishedFrom(c)
}

// testFilter covers every field of a filter, with Find and Tally.
func testFilter(c *chapter) {
	c.test("empty fields choose all", func(f *fixture) {
		for _, state := range possible() {
			f.in(state)
		}
		nothing := fairlead.Filter{IDs: []int64{}, States: []fairlead.State{}, Kinds: []string{}, Queues: []string{}, Tenants: []string{}}
		f.equal("the number of jobs", len(f.find(nothing)), len(possible()))
		f.equal("the tally", f.tally(nothing), f.tally(fairlead.Filter{}))
	})
	c.test("of several fields all must match, of one field's values any", func(f *fixture) {
		byName := f.enqueueVariety()
		for _, example := range []struct {
			filter fairlead.Filter
			want   []string
		}{
			{fairlead.Filter{IDs: []int64{byName["a1x"].ID, byName["b2y"].ID, unknown, byName["a1x"].ID}}, []string{"b2y", "a1x"}},
			{fairlead.Filter{Kinds: []string{"a"}}, []string{"a2x", "a1y", "a1x"}},
			{fairlead.Filter{Kinds: []string{"a", "b"}, Queues: []string{"2"}}, []string{"b2y", "a2x"}},
			{fairlead.Filter{Tenants: []string{"x"}}, []string{"a2x", "a1x"}},
			{fairlead.Filter{Tenants: []string{"y", "x"}, Queues: []string{"1"}, Kinds: []string{"a"}}, []string{"a1y", "a1x"}},
			{fairlead.Filter{Kinds: []string{"never heard of"}}, nil},
			{fairlead.Filter{Key: "shared"}, []string{"b2y", "a1x"}},
			{fairlead.Filter{Key: "shared", Tenants: []string{"y"}}, []string{"b2y"}},
			{fairlead.Filter{Key: "none has it"}, nil},
			{fairlead.Filter{States: []fairlead.State{fairlead.Scheduled}}, []string{"b2y"}},
			{fairlead.Filter{States: []fairlead.State{fairlead.Scheduled, fairlead.Cancelled}}, []string{"b2y", "a2x"}},
			{fairlead.Filter{States: []fairlead.State{fairlead.Failed, fairlead.Cancelled}, Kinds: []string{"a"}}, []string{"a2x"}},
			{fairlead.Filter{States: []fairlead.State{fairlead.Parked, fairlead.Skipped}}, nil},
			{fairlead.Filter{Below: byName["a2x"].ID, Kinds: []string{"a"}}, []string{"a1y", "a1x"}},
			{fairlead.Filter{IDs: []int64{byName["a1x"].ID}, States: []fairlead.State{fairlead.Ready}, Key: "shared", Kinds: []string{"a"}, Queues: []string{"1"}, Tenants: []string{"x"}, Below: unknown}, []string{"a1x"}},
			{fairlead.Filter{IDs: []int64{byName["a1x"].ID}, Tenants: []string{"y"}}, nil},
		} {
			what := fmt.Sprintf("the answer to %+v", example.filter)
			var want []int64
			tally := map[fairlead.State]int64{}
			for _, name := range example.want {
				want = append(want, byName[name].ID)
				tally[f.get(byName[name]).State]++
			}
			f.equal(what, ids(f.find(example.filter)), want)
			f.equal(what, f.tally(example.filter), tally)
		}
	})
}

// testCreated selects jobs by their creation time, in every state.
func testCreated(c *chapter) {
	c.test("From and To choose by when jobs were created, whatever became of them", func(f *fixture) {
		var early, late []int64
		for _, state := range possible() {
			early = append(early, f.in(state).ID)
		}
		f.Advance(time.Hour)
		noon := f.now()
		for _, state := range possible() {
			late = append(late, f.in(state).ID)
		}
		slices.Reverse(early)
		slices.Reverse(late)
		moment := time.Microsecond
		for _, example := range []struct {
			filter fairlead.Filter
			want   []int64
		}{
			{fairlead.Filter{From: noon}, late},
			{fairlead.Filter{To: noon}, early},
			{fairlead.Filter{To: noon.Add(moment)}, slices.Concat(late, early)},
			{fairlead.Filter{From: noon.Add(moment)}, nil},
			{fairlead.Filter{From: noon.Add(-time.Hour), To: noon}, early},
			{fairlead.Filter{From: noon, To: noon}, nil},
			{fairlead.Filter{From: noon, Limit: 2}, late[:2]},
			{fairlead.Filter{From: noon, Below: late[1]}, late[2:]},
			{fairlead.Filter{From: noon, IDs: []int64{early[0], late[0]}}, late[:1]},
			{fairlead.Filter{To: noon, IDs: early}, early},
			{fairlead.Filter{To: noon, Kinds: []string{"never heard of"}}, nil},
		} {
			what := fmt.Sprintf("the answer to %+v", example.filter)
			f.equal(what, ids(f.find(example.filter)), example.want)
			if example.filter.Limit > 0 {
				continue
			}
			tally := map[fairlead.State]int64{}
			for _, id := range example.want {
				tally[f.get(&fairlead.Job{ID: id}).State]++
			}
			f.equal(what, f.tally(example.filter), tally)
		}
	})
	c.test("From and To go with every other field", func(f *fixture) {
		f.enqueue(with(ofKind("a"), inQueue("1"), forTenant("x")))
		f.Advance(time.Hour)
		noon, byName := f.now(), f.enqueueVariety()
		f.Advance(time.Hour)
		filter := fairlead.Filter{From: noon, To: f.now(), States: []fairlead.State{fairlead.Ready}, Kinds: []string{"a"}, Queues: []string{"1"}, Tenants: []string{"x"}}
		f.equal("what is found", ids(f.find(filter)), ids([]*fairlead.Job{byName["a1x"]}))
		f.equal("the tally", f.tally(filter), map[fairlead.State]int64{fairlead.Ready: 1})
		filter.Key = "shared"
		f.equal("what is found by key", ids(f.find(filter)), ids([]*fairlead.Job{byName["a1x"]}))
	})
}

// enqueueVariety creates four jobs, named by kind, queue and tenant: a1x and a1y ready, a2x
// cancelled, b2y scheduled. a1x and b2y have the key "shared".
func (f *fixture) enqueueVariety() map[string]*fairlead.Job {
	byName := map[string]*fairlead.Job{}
	for _, name := range []string{"a1x", "a1y", "a2x", "b2y"} {
		job := with(ofKind(name[:1]), inQueue(name[1:2]), forTenant(name[2:]))
		if name == "a1x" || name == "b2y" {
			job.Key = "shared"
		}
		if name == "b2y" {
			job.NotBefore = f.now().Add(time.Hour)
		}
		byName[name] = f.enqueue(job)
	}
	f.ok(operations(f.store).Cancel(f.ctx(), byName["a2x"].ID, ""))
	return byName
}

func testTally(c *chapter) {
	c.test("it counts the jobs by state", func(f *fixture) {
		want := map[fairlead.State]int64{}
		for i, state := range possible() {
			for range i + 1 {
				f.in(state)
			}
			want[state] = int64(i + 1)
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), want)
	})
	c.test("states without jobs are absent", func(f *fixture) {
		if tally := f.tally(fairlead.Filter{}); len(tally) != 0 {
			f.Fatalf("the tally of nothing is %v", tally)
		}
		f.in(fairlead.Failed)
		if tally := f.tally(fairlead.Filter{}); len(tally) != 1 || tally[fairlead.Failed] != 1 {
			f.Fatalf("the tally of one failed job is %v", tally)
		}
	})
	c.test("it counts all, whatever the limit", func(f *fixture) {
		f.enqueue(many(150)...)
		f.equal("the tally", f.tally(fairlead.Filter{Limit: 5}), map[fairlead.State]int64{fairlead.Ready: 150})
	})
}
