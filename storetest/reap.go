package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func testReap(c *chapter) {
	c.test("nodes whose lease has run out are declared dead, once", func(f *fixture) {
		f.joinFor(time.Second)
		f.joinFor(time.Second)
		alive := f.joinFor(time.Hour)
		f.equal("what is reaped before", f.reap(), driver.Reaped{})
		f.Advance(time.Minute)
		f.equal("what is reaped", f.reap(), driver.Reaped{Nodes: 2})
		f.equal("what is reaped after", f.elsewhere().reap(), driver.Reaped{})
		node, _ := f.node(alive)
		f.equal("Dead", node.Dead, false)
	})
	c.test("a node is alive until its lease has run out", func(f *fixture) {
		f.joinFor(time.Minute)
		f.Advance(time.Minute - time.Microsecond)
		f.equal("what is reaped before", f.reap(), driver.Reaped{})
		f.Advance(2 * time.Microsecond)
		f.equal("what is reaped after", f.reap(), driver.Reaped{Nodes: 1})
	})
	c.test("jobs of a dead node become ready with a crash recorded", func(f *fixture) {
		job := f.enqueue(with(priority(3)))
		claimed := f.claimThe(job, f.joinFor(time.Second))
		f.Advance(time.Minute)
		f.equal("what is reaped", f.reap(), driver.Reaped{Nodes: 1, Jobs: 1})
		found := f.wantState(job, fairlead.Ready)
		f.equal("Crashes", found.Crashes, 1)
		f.equal("Attempt", found.Attempt, 1)
		attempts := f.attempts(job)
		f.equal("the number of recorded attempts", len(attempts), 1)
		attempts[0].Error = "" // stores may word crash errors freely
		f.equal("the crash", attempts[0], fairlead.Attempt{
			Run: 1, Fence: claimed.Fence, Node: claimed.Node, StartedAt: claimed.StartedAt, FinishedAt: f.now(), Reason: fairlead.ReasonCrash,
		})
		f.equal("Attempt of the next run", f.claimThe(job, f.join()).Attempt, 2)
	})
	c.test("a crash says when the node was last heard of", func(f *fixture) {
		node := f.joinFor(time.Second)
		job := f.enqueue(plain())
		f.claimThe(job, node)
		f.Advance(500 * time.Millisecond)
		_, err := f.store.Beat(f.ctx(), driver.Beat{Node: node, Lease: time.Second})
		f.ok(err)
		heard := f.now()
		f.Advance(time.Minute)
		f.reap()
		f.equal("the crash", f.attempts(job)[0].Error, fmt.Sprintf("node %d died; it was last heard of %s", node, heard.UTC().Format(time.RFC3339)))
	})
	c.test("a crash is no failure", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		f.crash(f.claimThe(job, f.join()))
		f.equal("Failures", f.get(job).Failures, 1)
	})
	c.test("jobs of living nodes are left alone", func(f *fixture) {
		living, dying := f.running(), f.running(inQueue("other"))
		f.ok(f.store.Leave(f.ctx(), dying.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1})
		f.wantState(living, fairlead.Running)
		f.settle(to(fairlead.Succeed, living))
	})
	c.test("waiting jobs of a dead node go on waiting", func(f *fixture) {
		job := f.in(fairlead.Waiting)
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{})
		f.wantState(job, fairlead.Waiting)
	})
	c.test("it takes back at most Limit jobs", func(f *fixture) {
		jobs, node := many(5), f.join()
		f.enqueue(jobs...)
		f.claim(node, 5)
		f.ok(f.store.Leave(f.ctx(), node))
		var taken []int
		for range 4 {
			reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 2})
			f.ok(err)
			taken = append(taken, reaped.Jobs)
		}
		f.equal("how many were taken back", taken, []int{2, 2, 1, 0})
		f.wantClaim(f.join(), everything(), jobs...)
	})
	testReapEnds(c)
	c.test("many at once take each job back once", func(f *fixture) {
		const crashed = 60
		jobs := many(crashed)
		f.enqueue(jobs...)
		for range 3 {
			node := f.joinFor(time.Second)
			f.claim(node, crashed/3)
		}
		f.Advance(time.Minute)
		f.share(crashed, func(store Store) (int, error) {
			reaped, err := store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 1000})
			return reaped.Jobs, err
		})
		for _, job := range f.wantClaim(f.join(), everything(), jobs...) {
			f.equal("Crashes", job.Crashes, 1)
		}
	})
}

// testReapEnds covers jobs that a crash ends.
func testReapEnds(c *chapter) {
	c.test("a job fails as poison at the crash that reaches MaxCrashes", func(f *fixture) {
		job := f.enqueue(with(keyed("k")))
		var answers []driver.Reaped
		const most = 2
		for range most {
			claimed := f.claimThe(job, f.join())
			f.ok(f.store.Leave(f.ctx(), claimed.Node))
			reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: most, Limit: 10})
			f.ok(err)
			answers = append(answers, reaped)
		}
		f.equal("the answers", answers, []driver.Reaped{{Jobs: 1}, {Poisoned: 1}})
		found := f.wantState(job, fairlead.Failed)
		f.equal("Reason", found.Reason, fairlead.ReasonPoison)
		f.equal("Crashes", found.Crashes, most)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("the number of recorded crashes", len(f.attempts(job)), most)
		f.equal("Error", found.Error, "it was running during 2 crashes without progress")
		f.wantFree("k")
	})
	c.test("progress makes crashes count anew", func(f *fixture) {
		job := f.enqueue(with())
		for range 3 {
			claimed := f.claimThe(job, f.join())
			f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: claimed.Fence, Progress: []byte(`1`)}))
			f.ok(f.store.Leave(f.ctx(), claimed.Node))
			reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 2, Limit: 10})
			f.ok(err)
			f.equal("what is reaped", reaped, driver.Reaped{Jobs: 1})
		}
	})
	c.test("a job that asked for it ends as cancelled", func(f *fixture) {
		job := f.running(cancelOnCrash, keyed("k"))
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.Advance(time.Minute)
		f.equal("what is reaped", f.reap(), driver.Reaped{Cancelled: 1})
		found := f.wantState(job, fairlead.Cancelled)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonCrash})
		f.wantFree("k")
	})
	c.test("a job that somebody asked to cancel ends as cancelled", func(f *fixture) {
		job := f.running(keyed("k"))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.ok(f.store.Leave(f.ctx(), job.Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Cancelled: 1})
		f.equal("Error", f.wantState(job, fairlead.Cancelled).Error, "enough")
		f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{fairlead.ReasonCrash})
		f.wantFree("k")
	})
	c.test("a wish to cancel goes before poison", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.ok(f.store.Leave(f.ctx(), job.Node))
		reaped, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 0, Limit: 10})
		f.ok(err)
		f.equal("what is reaped", reaped, driver.Reaped{Cancelled: 1})
		f.wantState(job, fairlead.Cancelled)
	})
	c.test("the jobs of one node go different ways", func(f *fixture) {
		node := f.join()
		revived, wished, careful := with(keyed("a")), with(keyed("b")), with(keyed("c"), cancelOnCrash)
		f.enqueue(revived, wished, careful)
		f.claim(node, 3)
		f.ok(operations(f.store).Cancel(f.ctx(), wished.ID, ""))
		f.ok(f.store.Leave(f.ctx(), node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Jobs: 1, Cancelled: 2})
		f.wantState(revived, fairlead.Ready)
		f.wantState(wished, fairlead.Cancelled)
		f.wantState(careful, fairlead.Cancelled)
		f.wantTaken(f.tryEnqueue(with(keyed("a"))), revived)
	})
}

func reasons(attempts []fairlead.Attempt) []fairlead.Reason {
	var list []fairlead.Reason
	for attempt := range slices.Values(attempts) {
		list = append(list, attempt.Reason)
	}
	return list
}
