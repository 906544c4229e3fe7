package storetest

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// testLocked covers rows locked by an open transaction: a call skips them, or waits and
// then sees the result of the transaction. Each case runs with a transaction that commits
// and with one that rolls back.
func testLocked(c *chapter) {
	for _, ends := range []ending{commits, rollsBack} {
		testPassedOver(c, ends)
		testWaitedFor(c, ends)
		testHeldSettlements(c, ends)
		testHeldSaves(c, ends)
		testHeldKeys(c, ends)
	}
	testAnswersWait(c)
	testHeldBatches(c)
}

// ending is the end of a transaction.
type ending string

const (
	commits   ending = "commits"
	rollsBack ending = "rolls back"
)

// end ends a transaction.
func (e ending) end(tx Transaction) error {
	if e == commits {
		return tx.Commit()
	}
	return tx.Rollback()
}

// become returns the state after the end: the first if the transaction commits, else the
// second.
func (e ending) become(committed, rolledBack fairlead.State) fairlead.State {
	if e == commits {
		return committed
	}
	return rolledBack
}

// testPassedOver covers calls that do not wait.
func testPassedOver(c *chapter, ends ending) {
	then := "that an open transaction replaces, which then " + string(ends)
	c.test(named("a place goes past a parked job", then), func(f *fixture) {
		holder := f.running(behind("door"))
		jobs := many(3, behind("door"))
		jobs[0].Key = "k"
		f.enqueue(jobs...)
		tx := f.replaceIn("k")
		f.doesNotWait("Settle", func() error { return f.trySettle(to(fairlead.Succeed, holder)) })
		f.wantState(jobs[1], fairlead.Ready)
		f.wantState(jobs[2], fairlead.Parked)
		f.ok(ends.end(tx))
		f.wantState(jobs[0], ends.become(fairlead.Cancelled, fairlead.Parked))
		f.settle(to(fairlead.Succeed, f.claimThe(jobs[1], f.join())))
		f.promote()
		f.wantState(jobs[0], ends.become(fairlead.Cancelled, fairlead.Ready))
		f.wantState(jobs[2], ends.become(fairlead.Ready, fairlead.Parked))
	})
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked} {
		c.test(named("Recall passes over a", state, "job", then), func(f *fixture) {
			b := f.batch()
			first, second := f.lockable(state)
			tx := f.replaceIn("k")
			var recalled []int64
			recall := func() error {
				_, err := f.store.Conduct(f.ctx(), b.ID, true, func(ctx context.Context, _ *batch.Record, tx batch.Tx) (err error) {
					recalled, err = tx.Recall(ctx, first.ID, second.ID)
					return err
				})
				return err
			}
			f.doesNotWait("Recall", recall)
			f.equal("what was recalled", recalled, []int64{second.ID})
			f.ok(ends.end(tx))
			f.wantState(first, ends.become(fairlead.Cancelled, state))
			f.ok(recall())
			f.equal("how many are recalled then", len(recalled) == 1, ends == rollsBack)
		})
	}
	c.test(named("Promote passes over a job", then), func(f *fixture) {
		first, second := f.lockable(fairlead.Scheduled)
		tx := f.replaceIn("k")
		f.Advance(2 * time.Hour)
		f.doesNotWait("Promote", func() error {
			_, err := f.store.Promote(f.ctx(), 10)
			return err
		})
		f.wantState(second, fairlead.Ready)
		f.ok(ends.end(tx))
		f.promote()
		f.wantState(first, ends.become(fairlead.Cancelled, fairlead.Ready))
	})
	c.test(named("Reap passes over a job that an open transaction settles, which then", ends), func(f *fixture) {
		node, jobs := f.join(), many(2)
		f.enqueue(jobs...)
		held := f.claim(node, 2)
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, success(held[0], `1`))
		f.ok(f.store.Leave(f.ctx(), node))
		f.doesNotWait("Reap", func() error {
			_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 10})
			return err
		})
		f.wantState(jobs[1], fairlead.Ready)
		f.ok(ends.end(tx))
		f.reap()
		f.wantState(jobs[0], ends.become(fairlead.Succeeded, fairlead.Ready))
	})
}

// testWaitedFor covers calls that name a job: they wait for the result of the transaction.
func testWaitedFor(c *chapter, ends ending) {
	later := time.Date(2090, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Parked} {
		for _, verb := range []struct {
			name string
			do   func(f *fixture, id int64) error
			hit  func(f *fixture, job *fairlead.Job)
		}{
			{"SetPriority", func(f *fixture, id int64) error { return operations(f.store).SetPriority(f.ctx(), id, 7) }, func(f *fixture, job *fairlead.Job) {
				f.equal("Priority", f.wantState(job, state).Priority, 7)
			}},
			{"SetQueue", func(f *fixture, id int64) error { return operations(f.store).SetQueue(f.ctx(), id, "moved") }, func(f *fixture, job *fairlead.Job) {
				f.equal("Queue", f.wantState(job, state).Queue, "moved")
			}},
			{"Reschedule", func(f *fixture, id int64) error { return operations(f.store).Reschedule(f.ctx(), id, later) }, func(f *fixture, job *fairlead.Job) {
				f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, later)
			}},
			{"Cancel", func(f *fixture, id int64) error { return operations(f.store).Cancel(f.ctx(), id, "enough") }, func(f *fixture, job *fairlead.Job) {
				f.wantState(job, fairlead.Cancelled)
			}},
		} {
			c.test(named(verb.name, "of a", state, "job waits for a transaction that replaces it and then", ends), func(f *fixture) {
				job, _ := f.lockable(state)
				tx := f.replaceIn("k")
				err := f.afterWaiting(func() error { return ends.end(tx) }, func() error { return verb.do(f, job.ID) })[0]
				if ends == commits {
					f.wantIllegal(err, job, fairlead.Cancelled)
					f.equal("Priority", f.get(job).Priority, 0)
					return
				}
				f.ok(err)
				verb.hit(f, job)
			})
		}
	}
}
