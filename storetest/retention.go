package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// keepKind sets the retention of a kind's jobs until the test ends.
func (f *fixture) keepKind(kind string, keep driver.Retention) {
	f.Helper()
	f.ok(f.store.KeepKinds(f.ctx(), map[string]driver.Retention{kind: keep}))
}

// forgetKind resets a kind to the retention of Prune's callers.
func (f *fixture) forgetKind(kind string) { f.keepKind(kind, driver.Retention{}) }

// endedOf returns a job of a kind that has ended in a state.
func (f *fixture) endedOf(kind string, move fairlead.Move) *fairlead.Job {
	f.Helper()
	job := f.running(ofKind(kind))
	f.settle(to(move, job))
	return job
}

// pruneKinds prunes with the retention of pruneSoon until something is deleted.
func (f *fixture) pruneKinds(limit int) (removed int) {
	f.Helper()
	return f.pruneEventually(soon, limit)
}

// pruneEventually prunes until something is deleted. A scan over jobs with different
// retentions may pause before it starts again if the last one took long in real time.
func (f *fixture) pruneEventually(retention driver.Retention, limit int) (removed int) {
	f.Helper()
	f.eventually("something is removed", func() bool {
		var err error
		removed, err = f.store.Prune(f.ctx(), retention, limit)
		f.ok(err)
		return removed > 0
	})
	return removed
}

func testKindRetention(c *chapter) {
	const own = "own"
	c.test("jobs of a kind that is kept longer stay until their time is over, and hold up no others", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Succeeded: 10 * time.Hour})
		long, usual := f.endedOf(own, fairlead.Succeed), f.endedOf(kind, fairlead.Succeed)
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", f.pruneKinds(10), 1)
		f.wantGone(usual)
		f.wantState(long, fairlead.Succeeded)
		f.Advance(8*time.Hour - time.Microsecond)
		f.equal("how many are removed before", f.pruneSoon(10), 0)
		f.Advance(2 * time.Microsecond)
		f.equal("how many are removed then", f.pruneKinds(10), 1)
		f.wantGone(long)
	})
	c.test("jobs of a kind that is kept shorter go earlier", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Failed: time.Minute})
		brief, usual := f.endedOf(own, fairlead.Fail), f.endedOf(kind, fairlead.Fail)
		f.Advance(2 * time.Minute)
		f.equal("how many are removed", f.pruneKinds(10), 1)
		f.wantGone(brief)
		f.wantState(usual, fairlead.Failed)
		f.Advance(time.Hour)
		f.equal("how many are removed later", f.pruneKinds(10), 1)
		f.wantGone(usual)
	})
	c.test("zero leaves an outcome of a kind to the caller, and Forever keeps it", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Failed: fairlead.Forever})
		failed, succeeded := f.endedOf(own, fairlead.Fail), f.endedOf(own, fairlead.Succeed)
		f.Advance(10_000 * time.Hour)
		f.keepKind(own, driver.Retention{Failed: fairlead.Forever})
		f.equal("how many are removed", f.pruneKinds(10), 1)
		f.wantGone(succeeded)
		f.wantState(failed, fairlead.Failed)
	})
	c.test("a kind has its retention though the caller keeps all others forever", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Succeeded: time.Minute})
		brief, usual := f.endedOf(own, fairlead.Succeed), f.endedOf(kind, fairlead.Succeed)
		f.Advance(time.Hour)
		f.equal("how many are removed", f.pruneEventually(driver.Retention{}, 10), 1)
		f.wantGone(brief)
		f.wantState(usual, fairlead.Succeeded)
	})
	c.test("it holds for every process, and the last call for a kind counts", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Succeeded: time.Minute})
		g := f.elsewhere()
		g.keepKind(own, driver.Retention{Succeeded: 10 * time.Hour})
		job := f.endedOf(own, fairlead.Succeed)
		f.Advance(2 * time.Hour)
		f.equal("how many are removed here", f.pruneSoon(10), 0)
		f.Advance(9 * time.Hour)
		f.equal("how many are removed there", g.pruneKinds(10), 1)
		f.wantGone(job)
	})
	c.test("it is forgotten when no call has repeated it for long", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Succeeded: fairlead.Forever})
		job := f.endedOf(own, fairlead.Succeed)
		f.Advance(driver.KindRetentionMemory - time.Microsecond)
		f.equal("how many are removed before", f.pruneSoon(10), 0)
		f.Advance(time.Microsecond)
		f.equal("how many are removed", f.pruneKinds(10), 1)
		f.wantGone(job)
	})
	c.test("very many jobs that are kept longer hide no others, and at most limit are removed", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Cancelled: fairlead.Forever})
		kept := many(f.size(50, 2500, "keeps more jobs than a call of Prune looks at"), ofKind(own))
		f.enqueue(kept...)
		for _, job := range kept {
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		}
		f.enqueue(many(5)...)
		live, err := f.store.Find(f.ctx(), fairlead.Filter{States: []fairlead.State{fairlead.Ready}})
		f.ok(err)
		for _, job := range live {
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", []int{f.pruneKinds(2), f.pruneKinds(2), f.pruneKinds(2)}, []int{2, 2, 1})
		f.equal("the rest", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Cancelled: int64(len(kept))})
	})
	c.test("a task stays until its batch has counted it, however short its kind is kept", func(f *fixture) {
		b, p := f.opened(2)
		jobs := f.letOut(b, p)
		own := f.get(jobs[0]).Kind
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Succeeded: time.Minute})
		for _, job := range f.claim(f.join(), 2) {
			f.settle(to(fairlead.Succeed, job))
		}
		f.Advance(30 * time.Minute)
		f.equal("how many are removed", f.pruneSoon(10), 0)
		f.count(b, p, "so")
		f.equal("how many are removed once one is counted", f.pruneKinds(10), 1)
		f.count(b, p, "ss")
		f.equal("how many are removed once both are", f.pruneKinds(10), 1)
	})
	c.test("a job that is opened again keeps its time from its last end", func(f *fixture) {
		defer f.forgetKind(own)
		f.keepKind(own, driver.Retention{Failed: 10 * time.Hour})
		job := f.endedOf(own, fairlead.Fail)
		f.Advance(11 * time.Hour)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.settle(to(fairlead.Fail, f.claimAs(driver.Claim{Node: f.join(), Scope: everything(own), Max: 1})[0]))
		f.equal("how many are removed", f.pruneSoon(10), 0)
		f.wantState(job, fairlead.Failed)
	})
}
