package storetest

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testOthers covers jobs that are not part of an operation: changes to one job leave the
// others alone.
func testOthers(c *chapter) {
	for how, end := range waysToEnd() {
		c.test(named("a job that", how, "frees its own key and no other"), func(f *fixture) {
			others := []*fairlead.Job{f.waitingLong(), f.enqueue(with(keyed("other"))), f.in(fairlead.Scheduled, keyed("k"), forTenant("other"))}
			end(f, keyed("k"))
			f.wantFree("k")
			f.wantState(others[0], fairlead.Waiting)
			f.wantTaken(f.tryEnqueue(with(keyed("other"))), others[1])
			f.wantTaken(f.tryEnqueue(with(keyed("k"), forTenant("other"))), others[2])
		})
	}
	for how, remove := range map[string]func(f *fixture, job *fairlead.Job){
		"is deleted": func(f *fixture, job *fairlead.Job) { f.ok(operations(f.store).Delete(f.ctx(), job.ID)) },
		"is pruned": func(f *fixture, _ *fairlead.Job) {
			_, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Minute}, 10)
			f.ok(err)
		},
	} {
		c.test(named("a job that", how, "takes nothing along that is known of another"), func(f *fixture) {
			failed := again(f.running(), time.Hour)
			failed.Memo, failed.Progress = json.RawMessage(`"kept"`), json.RawMessage(`"half"`)
			f.settle(failed)
			other := &fairlead.Job{ID: failed.ID}
			before, attempts := f.get(other), f.attempts(other)
			f.equal("how many attempts there are", len(attempts), 1)
			job := f.in(fairlead.Succeeded)
			f.Advance(time.Hour)
			remove(f, job)
			f.wantGone(job)
			f.equal("the other job", f.get(other), before)
			f.equal("its attempts", f.attempts(other), attempts)
		})
	}
}

// waitingLong returns a job that waits for days.
func (f *fixture) waitingLong() *fairlead.Job {
	f.Helper()
	job := f.running()
	long := wait(job)
	long.After = 48 * time.Hour
	f.settle(long)
	return job
}

// waysToEnd returns functions that create a job and end it, one for each way in which a job
// can end.
func waysToEnd() map[string]func(f *fixture, changes ...func(*fairlead.Job)) {
	ways := map[string]func(f *fixture, changes ...func(*fairlead.Job)){
		"is cancelled while it is parked": func(f *fixture, changes ...func(*fairlead.Job)) {
			f.enqueue(with(behind("g")))
			job := f.enqueue(with(append(changes, behind("g"))...))
			f.wantState(job, fairlead.Parked)
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "not needed"))
		},
		"misses its deadline": func(f *fixture, changes ...func(*fairlead.Job)) {
			f.in(fairlead.Waiting, changes...)
			f.Advance(2 * time.Hour)
			n, err := expireOverdue(f.ctx(), f.store, 10)
			f.ok(err)
			f.equal("how many missed it", n, 1)
		},
		"crashes too often": func(f *fixture, changes ...func(*fairlead.Job)) {
			job := f.in(fairlead.Running, changes...)
			f.ok(f.store.Leave(f.ctx(), job.Node))
			_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 0, Limit: 10})
			f.ok(err)
			f.wantState(job, fairlead.Failed)
		},
		"must not run again after a crash": func(f *fixture, changes ...func(*fairlead.Job)) {
			job := f.in(fairlead.Running, append(changes, cancelOnCrash)...)
			f.crash(job)
			f.wantState(job, fairlead.Cancelled)
		},
	}
	for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready, fairlead.Waiting} {
		ways[named("is cancelled while it is", state)] = func(f *fixture, changes ...func(*fairlead.Job)) {
			f.ok(operations(f.store).Cancel(f.ctx(), f.in(state, changes...).ID, "not needed"))
		}
	}
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		ways[named("is settled by", move)] = func(f *fixture, changes ...func(*fairlead.Job)) {
			f.settle(to(move, f.in(fairlead.Running, changes...)))
		}
	}
	for _, move := range []fairlead.Move{fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait} {
		ways[named("was asked to stop and is settled by", move)] = func(f *fixture, changes ...func(*fairlead.Job)) {
			job := f.in(fairlead.Running, changes...)
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
			settlement := to(move, job)
			settlement.After = time.Minute
			f.wantSettled([]fairlead.Settled{fairlead.SettledCancelled}, settlement)
		}
	}
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail} {
		ways[named("is answered by", move)] = func(f *fixture, changes ...func(*fairlead.Job)) {
			f.resolve(to(move, f.in(fairlead.Waiting, changes...)))
		}
		ways[named("is answered early by", move)] = func(f *fixture, changes ...func(*fairlead.Job)) {
			job := f.in(fairlead.Running, changes...)
			f.resolve(to(move, job))
			f.settle(wait(job))
		}
	}
	return ways
}
