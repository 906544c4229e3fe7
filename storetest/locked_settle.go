package storetest

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testHeldSettlements covers settlements of jobs with rows locked by a caller's
// transaction: the store answers SettledHeld for these and settles the others.
func testHeldSettlements(c *chapter, ends ending) {
	c.test(named("many plain successes are settled next to one that a transaction holds, which then", ends), func(f *fixture) {
		f.enqueue(many(plainMany)...)
		jobs := f.claim(f.join(), plainMany)
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, again(jobs[3], time.Minute))
		want := make([]fairlead.Settled, plainMany)
		want[3] = fairlead.SettledHeld
		f.wantUnhindered(want, plainSuccesses(jobs)...)
		f.wantState(jobs[3], fairlead.Running)
		f.equal("how many succeeded", f.tally(fairlead.Filter{})[fairlead.Succeeded], int64(plainMany-1))
		f.ok(ends.end(tx))
		want[3] = asAsked
		if ends == commits {
			want[3] = lost
		}
		f.wantSettled(want, plainSuccesses(jobs)...)
		f.wantState(jobs[3], ends.become(fairlead.Scheduled, fairlead.Succeeded))
	})
	moves := map[string]func(job *fairlead.Job) fairlead.Settlement{
		"success": func(job *fairlead.Job) fairlead.Settlement { return success(job, `1`) },
		"failure": func(job *fairlead.Job) fairlead.Settlement { return failure(job, "no") },
		"retry":   func(job *fairlead.Job) fairlead.Settlement { return again(job, time.Minute) },
		"release": func(job *fairlead.Job) fairlead.Settlement { return to(fairlead.MoveRelease, job) },
		"wait":    wait,
		"replacement": func(job *fairlead.Job) fairlead.Settlement {
			s := to(fairlead.Succeed, job)
			s.Replace = plain()
			return s
		},
	}
	for name, move := range moves {
		c.test(named("a", name, "of a job that a transaction completes, which then", ends, "does not delay the other settlements"), func(f *fixture) {
			f.enqueue(many(3)...)
			jobs := f.claim(f.join(), 3)
			tx := f.beginLocking()
			f.settleIn(tx, []fairlead.Settled{asAsked}, success(jobs[1], `"in tx"`))
			f.wantUnhindered([]fairlead.Settled{asAsked, fairlead.SettledHeld, asAsked}, to(fairlead.Succeed, jobs[0]), move(jobs[1]), again(jobs[2], time.Minute))
			f.wantState(jobs[0], fairlead.Succeeded)
			f.wantState(jobs[1], fairlead.Running)
			f.wantState(jobs[2], fairlead.Scheduled)
			f.ok(ends.end(tx))
			answer := asAsked
			switch move(jobs[1]).Move {
			case fairlead.Succeed, fairlead.MoveAwait: // a waiting job may have succeeded since
			default:
				if ends == commits {
					answer = lost
				}
			}
			f.wantSettled([]fairlead.Settled{answer}, move(jobs[1]))
			if ends == commits {
				f.equal("Output", string(f.wantState(jobs[1], fairlead.Succeeded).Output), `"in tx"`)
			}
		})
	}
	c.test(named("the end of a job whose key a transaction asks for, which then", ends, "does not delay the other settlements"), func(f *fixture) {
		withKey, other := f.running(keyed("k")), f.running()
		tx := f.beginLocking()
		f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)))
		var got []fairlead.Settled
		both := []fairlead.Settlement{to(fairlead.Succeed, withKey), to(fairlead.Succeed, other)}
		f.doesNotWait("Settle", func() (err error) {
			got, err = f.store.Settle(f.ctx(), both)
			return err
		})
		f.equal("the answer for the other job", got[1], asAsked)
		f.wantState(other, fairlead.Succeeded)
		f.ok(ends.end(tx))
		f.settle(both...)
		f.wantState(withKey, fairlead.Succeeded)
		f.wantFree("k")
	})
	c.test(named("a late settlement is lost, not held, if a transaction settles a later run, which then", ends), func(f *fixture) {
		f.enqueue(many(2)...)
		jobs := f.claim(f.join(), 2)
		f.settle(again(jobs[0], 0))
		theirs := f.claimThe(jobs[0], f.join())
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, theirs))
		f.wantUnhindered([]fairlead.Settled{lost, asAsked}, to(fairlead.Succeed, jobs[0]), to(fairlead.Succeed, jobs[1]))
		f.ok(ends.end(tx))
		f.settle(to(fairlead.Succeed, theirs))
	})
}

// testHeldSaves covers progress of jobs with rows locked by a caller's transaction.
func testHeldSaves(c *chapter, ends ending) {
	c.test(named("Save of a job that a transaction completes, which then", ends, "does not wait for it"), func(f *fixture) {
		f.enqueue(many(2)...)
		jobs := f.claim(f.join(), 2)
		save := func(job *fairlead.Job) error {
			return f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence, Progress: json.RawMessage(`1`)})
		}
		tx := f.beginLocking()
		f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, jobs[0]))
		var held error
		f.doesNotWait("Save", func() error {
			held = save(jobs[0])
			return save(jobs[1])
		})
		f.wantErr(held, fairlead.ErrUnavailable)
		f.ok(ends.end(tx))
		if ends == commits {
			f.wantErr(save(jobs[0]), fairlead.ErrLeaseLost)
			return
		}
		f.ok(save(jobs[0]))
		f.equal("Progress", string(f.wantState(jobs[0], fairlead.Running).Progress), `1`)
	})
}

// testHeldKeys covers housekeeping that ends jobs with keys that a caller's transaction
// requests: it does not wait, and processes these jobs later.
func testHeldKeys(c *chapter, ends ending) {
	c.test(named("Prune does not wait for a transaction that takes the key which a job gave back, and then", ends), func(f *fixture) {
		job := f.running(keyed("k"))
		f.settle(to(fairlead.Succeed, job))
		f.Advance(2 * time.Hour)
		tx := f.beginLocking()
		f.enqueueIn(tx, with(keyed("k")))
		f.doesNotWait("Prune", func() error {
			_, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Hour}, 10)
			return err
		})
		f.wantGone(job)
		f.ok(ends.end(tx))
	})
	for name, keeping := range map[string]struct {
		make func(f *fixture) (withKey, other *fairlead.Job)
		call func(f *fixture) error
		end  fairlead.State // empty if the jobs no longer exist
	}{
		"Reap": {func(f *fixture) (withKey, other *fairlead.Job) {
			withKey, other = f.running(keyed("k"), cancelOnCrash), f.running(cancelOnCrash)
			f.ok(f.store.Leave(f.ctx(), withKey.Node))
			f.ok(f.store.Leave(f.ctx(), other.Node))
			return withKey, other
		}, func(f *fixture) error {
			_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: patience, Limit: 10})
			return err
		}, fairlead.Cancelled},
		"Expire": {func(f *fixture) (withKey, other *fairlead.Job) {
			withKey, other = f.running(keyed("k")), f.running()
			f.settle(wait(withKey), wait(other))
			f.Advance(2 * time.Hour)
			return withKey, other
		}, func(f *fixture) error {
			_, err := expireOverdue(f.ctx(), f.store, 10)
			return err
		}, fairlead.Failed},
		"Prune": {func(f *fixture) (withKey, other *fairlead.Job) {
			withKey, other = f.running(forever("k")), f.running()
			f.settle(to(fairlead.Succeed, withKey), to(fairlead.Succeed, other))
			f.Advance(2 * time.Hour)
			return withKey, other
		}, func(f *fixture) error {
			_, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Hour}, 10)
			return err
		}, ""},
	} {
		c.test(named(name, "does not wait for a transaction that asks for the key of one job, which then", ends), func(f *fixture) {
			withKey, other := keeping.make(f)
			want := func(job *fairlead.Job) {
				f.Helper()
				if keeping.end == "" {
					f.wantGone(job)
				} else {
					f.wantState(job, keeping.end)
				}
			}
			tx := f.beginLocking()
			f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)))
			f.doesNotWait(name, func() error { return keeping.call(f) })
			want(other)
			f.ok(ends.end(tx))
			f.ok(keeping.call(f))
			want(withKey)
			f.wantFree("k")
		})
	}
}

// wantUnhindered settles next to an open transaction, and checks that it does not wait and
// gets the given answers.
func (f *fixture) wantUnhindered(want []fairlead.Settled, settlements ...fairlead.Settlement) {
	f.Helper()
	var got []fairlead.Settled
	f.doesNotWait("Settle", func() (err error) {
		got, err = f.store.Settle(f.ctx(), settlements)
		return err
	})
	f.equal("the answer of Settle", got, want)
}

// SettleAll settles like a node: it settles jobs locked by another transaction again until
// they are free.
func SettleAll(ctx context.Context, store driver.Worker, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	const pause = 5 * time.Millisecond
	settled, err := store.Settle(ctx, settlements)
	for err == nil && slices.Contains(settled, fairlead.SettledHeld) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		var held []fairlead.Settlement
		var at []int
		for i, answer := range settled {
			if answer == fairlead.SettledHeld {
				held, at = append(held, settlements[i]), append(at, i)
			}
		}
		var again []fairlead.Settled
		again, err = store.Settle(ctx, held)
		for n, answer := range again {
			settled[at[n]] = answer
		}
	}
	return settled, err
}
