package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// wantTaken checks that the job holds a key, with the error text shared by all stores.
func (f *fixture) wantTaken(err error, holder *fairlead.Job) {
	f.Helper()
	f.wantErr(err, fairlead.ErrConflict)
	job := f.get(holder)
	if want := driver.KeyTaken(job.Tenant, job.Key, job.ID).Error(); !strings.Contains(err.Error(), want) {
		f.Fatalf("the conflict says %q, want the words of fairlead.KeyTaken: %q", err, want)
	}
}

// wantFree checks that the key is free, by taking and returning it.
func (f *fixture) wantFree(key string) {
	f.Helper()
	f.ok(operations(f.store).Delete(f.ctx(), f.enqueue(with(keyed(key))).ID))
}

func testKeys(c *chapter) {
	c.test("a taken key is refused with ErrConflict", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
		f.wantTaken(f.tryEnqueue(with(keyed("k"), onDuplicate(fairlead.RefuseDuplicate))), holder)
		f.equal("the jobs", ids(f.find(fairlead.Filter{})), []int64{holder.ID})
	})
	c.test("a key is one tenant's", func(f *fixture) {
		f.enqueue(with(keyed("k"), forTenant("a")), with(keyed("k"), forTenant("b")))
		f.enqueue(with(keyed("k")))
	})
	c.test("a key is the same in every queue and kind", func(f *fixture) {
		holder := f.enqueue(with(keyed("k"), inQueue("x"), ofKind("one")))
		f.wantTaken(f.tryEnqueue(with(keyed("k"), inQueue("y"), ofKind("two"))), holder)
	})
	c.test("jobs without a key are never duplicates", func(f *fixture) {
		f.enqueue(many(5)...)
		f.enqueue(many(5, onDuplicate(fairlead.KeepDuplicate))...)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 10})
	})
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting} {
		c.test(named("a", state, "job holds its key"), func(f *fixture) {
			holder := f.in(state, keyed("k"))
			f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
		})
	}
	for _, move := range []fairlead.Move{fairlead.Again, fairlead.Snooze, fairlead.MoveRelease} {
		c.test(named("a job keeps its key through", move), func(f *fixture) {
			holder := f.running(keyed("k"))
			settlement := to(move, holder)
			settlement.After = time.Minute
			f.settle(settlement)
			f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
		})
	}
	for _, state := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled} {
		c.test(named("a", state, "job has given its key back"), func(f *fixture) {
			f.in(state, keyed("k"))
			f.wantFree("k")
		})
		c.test(named("a", state, "job holds its key if that is forever"), func(f *fixture) {
			holder := f.in(state, forever("k"))
			f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
			f.wantTaken(f.tryEnqueue(with(forever("k"))), holder)
		})
	}
	c.test("a running job that ends by a wish to cancel gives its key back", func(f *fixture) {
		job := f.running(keyed("k"))
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.wantSettled([]fairlead.Settled{fairlead.SettledCancelled}, again(job, time.Minute))
		f.wantFree("k")
	})
	c.test("a job that is dropped gives its key back", func(f *fixture) {
		f.settle(to(fairlead.Drop, f.running(keyed("k"))))
		f.wantFree("k")
	})
	c.test("removing the job gives back a key held forever", func(f *fixture) {
		deleted := f.in(fairlead.Succeeded, forever("deleted"))
		f.in(fairlead.Failed, forever("pruned"))
		f.ok(operations(f.store).Delete(f.ctx(), deleted.ID))
		f.wantFree("deleted")
		f.Advance(time.Hour)
		_, err := f.store.Prune(f.ctx(), driver.Retention{Failed: time.Minute}, 10)
		f.ok(err)
		f.wantFree("pruned")
	})
	c.test("removing a former holder leaves the key with its new one", func(f *fixture) {
		deleted, pruned := f.in(fairlead.Succeeded, keyed("k")), f.in(fairlead.Cancelled, keyed("k"))
		holder := f.enqueue(with(keyed("k")))
		f.ok(operations(f.store).Delete(f.ctx(), deleted.ID))
		f.Advance(time.Hour)
		_, err := f.store.Prune(f.ctx(), driver.Retention{Cancelled: time.Minute}, 10)
		f.ok(err)
		f.wantGone(pruned)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
	})
	testKeepDuplicate(c)
	testReplaceDuplicate(c)
	testKeysOfOneCall(c)
	testKeyRaces(c)
}

func testKeepDuplicate(c *chapter) {
	c.test("under KeepDuplicate the job gets the holder's ID and is not stored", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting} {
			holder := f.in(state, keyed(string(state)))
			before := f.get(holder)
			double := f.enqueue(with(keyed(string(state)), onDuplicate(fairlead.KeepDuplicate), priority(9)))
			f.equal("the ID", double.ID, holder.ID)
			f.equal("the holder", f.get(holder), before)
		}
		f.equal("the number of jobs", len(f.find(fairlead.Filter{})), 4)
	})
	c.test("under KeepDuplicate a finished holder of a key held forever counts too", func(f *fixture) {
		holder := f.in(fairlead.Succeeded, forever("k"))
		double := f.enqueue(with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)))
		f.equal("the ID", double.ID, holder.ID)
		f.wantState(holder, fairlead.Succeeded)
	})
	c.test("under KeepDuplicate a free key is simply taken", func(f *fixture) {
		holder := f.enqueue(with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)))
		f.wantState(holder, fairlead.Ready)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
	})
	c.test("under KeepDuplicate the other jobs of the call are stored", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		jobs := []*fairlead.Job{plain(), with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)), with(keyed("l")), plain()}
		f.enqueue(jobs...)
		f.equal("the ID", jobs[1].ID, holder.ID)
		f.equal("the jobs", ids(f.find(fairlead.Filter{})), []int64{jobs[3].ID, jobs[2].ID, jobs[0].ID, holder.ID})
	})
}

func testReplaceDuplicate(c *chapter) {
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready} {
		c.test(named("ReplaceDuplicate cancels a", state, "holder and takes its key"), func(f *fixture) {
			old := f.in(state, keyed("k"))
			f.Advance(time.Second)
			fresh := f.enqueue(with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
			ended := f.wantState(old, fairlead.Cancelled)
			f.equal("the reason", ended.Reason, fairlead.ReasonReplaced)
			f.equal("the error", ended.Error, fmt.Sprintf("replaced by job %d", fresh.ID))
			f.equal("the end", ended.FinishedAt, f.now())
			f.wantState(fresh, fairlead.Ready)
			f.wantTaken(f.tryEnqueue(with(keyed("k"))), fresh)
			f.wantClaim(f.join(), everything(), fresh)
		})
	}
	for _, state := range []fairlead.State{fairlead.Running, fairlead.Waiting} {
		c.test(named("ReplaceDuplicate conflicts with a", state, "holder"), func(f *fixture) {
			holder := f.in(state, keyed("k"))
			f.wantErr(f.tryEnqueue(with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate))), fairlead.ErrConflict)
			f.wantState(holder, state)
		})
	}
	c.test("ReplaceDuplicate conflicts with a finished holder", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled} {
			holder := f.in(state, forever(string(state)))
			f.wantErr(f.tryEnqueue(with(keyed(string(state)), onDuplicate(fairlead.ReplaceDuplicate))), fairlead.ErrConflict)
			f.wantState(holder, state)
		}
	})
	c.test("ReplaceDuplicate takes over a key held forever from a job that has not started", func(f *fixture) {
		old := f.enqueue(with(forever("k")))
		fresh := f.enqueue(with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		f.wantState(old, fairlead.Cancelled)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), fresh)
	})
	c.test("ReplaceDuplicate stores nothing and cancels nothing if another job of the call conflicts", func(f *fixture) {
		old, taken := f.enqueue(with(keyed("k"))), f.enqueue(with(keyed("l")))
		f.wantTaken(f.tryEnqueue(with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)), with(keyed("l"))), taken)
		f.wantState(old, fairlead.Ready)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), old)
	})
}

func testKeysOfOneCall(c *chapter) {
	c.test("two jobs of one call with the same key are duplicates of each other", func(f *fixture) {
		f.wantErr(f.tryEnqueue(with(keyed("k")), with(keyed("k"))), fairlead.ErrConflict)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
	})
	c.test("of two in one call under KeepDuplicate the first is stored", func(f *fixture) {
		first, second := with(keyed("k"), priority(1)), with(keyed("k"), priority(2), onDuplicate(fairlead.KeepDuplicate))
		f.enqueue(first, second)
		f.equal("the ID of the second", second.ID, first.ID)
		f.equal("the priority of the one that is stored", f.get(first).Priority, 1)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("of two in one call under ReplaceDuplicate the second replaces the first", func(f *fixture) {
		first, second := with(keyed("k")), with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate))
		f.enqueue(first, second)
		f.equal("the reason of the first", f.wantState(first, fairlead.Cancelled).Reason, fairlead.ReasonReplaced)
		f.wantState(second, fairlead.Ready)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), second)
	})
	c.test("a call can hold many keys", func(f *fixture) {
		jobs := many(100)
		for i, job := range jobs {
			job.Key = fmt.Sprint("key ", i)
		}
		f.enqueue(jobs...)
		f.wantTaken(f.tryEnqueue(with(keyed("key 99"))), jobs[99])
	})
}

func testKeyRaces(c *chapter) {
	const rivals = 8
	// race enqueues one job per rival concurrently, all with the same key.
	race := func(f *fixture, do fairlead.OnDuplicate) ([]*fairlead.Job, []error) {
		jobs := many(rivals, keyed("k"), onDuplicate(do))
		f.ok(fairlead.NormalizeJobs(jobs))
		errs := f.rivals(rivals, func(i int, store Store) error { return store.Enqueue(f.ctx(), jobs[i:i+1]) })
		return jobs, errs
	}
	c.test("of many at once exactly one gets the key", func(f *fixture) {
		_, errs := race(f, fairlead.RefuseDuplicate)
		f.wantOneWinner(errs)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("of many at once under KeepDuplicate all get the same ID", func(f *fixture) {
		jobs, errs := race(f, fairlead.KeepDuplicate)
		f.ok(first(errs))
		for _, job := range jobs {
			f.equal("the ID", job.ID, jobs[0].ID)
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("of many at once under ReplaceDuplicate one is left", func(f *fixture) {
		_, errs := race(f, fairlead.ReplaceDuplicate)
		f.ok(first(errs))
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1, fairlead.Cancelled: rivals - 1})
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), f.find(fairlead.Filter{States: []fairlead.State{fairlead.Ready}})[0])
	})
}
