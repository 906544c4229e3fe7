package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// beginLocking begins a caller's transaction whose locks affect other calls.
func (f *fixture) beginLocking() Transaction {
	f.Helper()
	f.needs(OtherWriters, LockWaits)
	return f.begin()
}

// replaceIn begins a transaction that replaces the job with a key, which stays locked until
// the transaction ends.
func (f *fixture) replaceIn(key string) Transaction {
	f.Helper()
	tx := f.beginLocking()
	f.enqueueIn(tx, with(keyed(key), inQueue("replaced"), onDuplicate(fairlead.ReplaceDuplicate)))
	return tx
}

// lockable returns two jobs in a state in which they can be replaced. The first has the key
// "k".
func (f *fixture) lockable(state fairlead.State) (first, second *fairlead.Job) {
	f.Helper()
	jobs := many(2)
	jobs[0].Key = "k"
	for _, job := range jobs {
		switch state {
		case fairlead.Scheduled:
			job.NotBefore = f.now().Add(time.Hour)
		case fairlead.Parked:
			job.ConcurrencyKey = "door"
		}
	}
	if state == fairlead.Parked {
		f.enqueue(with(behind("door")))
	}
	f.enqueue(jobs...)
	f.wantState(jobs[0], state)
	return jobs[0], jobs[1]
}

// trySettle settles and returns the error.
func (f *fixture) trySettle(settlements ...fairlead.Settlement) error {
	_, err := SettleAll(f.ctx(), f.store, settlements)
	return err
}

// doesNotWait checks that a call returns while a transaction is open.
func (f *fixture) doesNotWait(what string, call func() error) {
	f.Helper()
	const surely = 400 // after so many checks in a row, the call waits for a lock that will not be released
	done, waits := make(chan error, 1), 0
	go func() { done <- call() }()
	f.eventually(what+" returns", func() bool {
		select {
		case err := <-done:
			f.ok(err)
			return true
		default:
		}
		if waits++; f.Waiting() == 0 {
			waits = 0
		}
		if waits == surely {
			f.Fatalf("%s waits for the transaction", what)
		}
		return false
	})
}

// afterWaiting starts calls one after the other, each once the earlier ones are waiting.
// Then it ends the transaction that they wait for, and returns their errors.
func (f *fixture) afterWaiting(end func() error, calls ...func() error) []error {
	f.Helper()
	errs, returned := make([]error, len(calls)), make(chan int, len(calls))
	for i, call := range calls {
		go func() {
			errs[i] = call()
			returned <- i
		}()
		f.eventually("the call waits for the transaction", func() bool {
			select {
			case i := <-returned:
				f.Fatalf("call %d did not wait for the transaction: %v", i, errs[i])
			default:
			}
			return f.Waiting() == i+1
		})
	}
	f.ok(end())
	for range calls {
		<-returned
	}
	return errs
}

// testAnswersWait covers answers to a running job that a transaction settles.
func testAnswersWait(c *chapter) {
	for _, ends := range []ending{commits, rollsBack} {
		c.test(named("an answer that waits for a transaction which lets the job wait and then", ends, "is not lost"), func(f *fixture) {
			job := f.running()
			tx := f.beginLocking()
			f.settleIn(tx, []fairlead.Settled{asAsked}, wait(job))
			f.ok(f.afterWaiting(func() error { return ends.end(tx) }, func() error { return f.store.Resolve(f.ctx(), success(job, `1`)) })[0])
			if ends == rollsBack {
				f.settle(wait(job))
			}
			f.wantState(job, fairlead.Succeeded)
		})
	}
	c.test("of different early answers that wait for the same transaction the first counts, and the other is told", func(f *fixture) {
		job := f.running()
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, wait(job))
		errs := f.afterWaiting(tx.Rollback,
			func() error { return f.store.Resolve(f.ctx(), success(job, `1`)) },
			func() error { return f.store.Resolve(f.ctx(), failure(job, "no")) })
		f.wantOneWinner(errs)
		f.settle(wait(job))
		want := fairlead.Succeeded
		if errs[0] != nil {
			want = fairlead.Failed
		}
		f.wantState(job, want)
	})
}

// testHeldBatches covers batches that another caller acts on.
func testHeldBatches(c *chapter) {
	const day = 24 * time.Hour
	retention := driver.Retention{Succeeded: time.Hour}
	for name, old := range map[string]func(f *fixture) batch.Batch{
		"that was never opened": func(f *fixture) batch.Batch { return f.batch() },
		"that ended": func(f *fixture) batch.Batch {
			b, _ := f.opened(1)
			f.change(b.ID, func(b *batch.Record) { b.Tally, b.EndedAt = batch.Tally{Success: 1}, f.now() })
			return b
		},
	} {
		c.test(named("Prune passes over a batch", name, "while another acts upon it"), func(f *fixture) {
			f.needs(OtherWriters, LockWaits)
			held := old(f)
			f.Advance(time.Second)
			free := old(f)
			f.Advance(2 * day)
			inside, enough, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			go func() {
				_, err := f.store.Conduct(f.ctx(), held.ID, true, func(context.Context, *batch.Record, batch.Tx) error {
					close(inside)
					<-enough
					return nil
				})
				done <- err
			}()
			<-inside
			release := sync.OnceFunc(func() { close(enough) })
			defer release()
			f.doesNotWait("Prune", func() error {
				_, err := f.store.Prune(f.ctx(), retention, 10)
				return err
			})
			both := batch.Filter{IDs: []int64{held.ID, free.ID}}
			f.equal("what is left", batchIDs(f.batches(both)), []int64{held.ID})
			release()
			f.ok(<-done)
			_, err := f.store.Prune(f.ctx(), retention, 10)
			f.ok(err)
			f.equal("what is left then", len(f.batches(both)), 0)
		})
	}
}
