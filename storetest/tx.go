package storetest

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

func (f *fixture) begin() Transaction {
	f.Helper()
	f.needs(Transactions)
	return f.Begin(f.outer, f.store)
}

// enqueueIn stores jobs in a transaction and returns the first.
func (f *fixture) enqueueIn(tx Transaction, jobs ...*fairlead.Job) *fairlead.Job {
	f.Helper()
	f.ok(fairlead.NormalizeJobs(jobs))
	f.ok(tx.Tx.Enqueue(f.ctx(), jobs))
	return jobs[0]
}

// settleIn settles in a transaction and checks the answers.
func (f *fixture) settleIn(tx Transaction, want []fairlead.Settled, settlements ...fairlead.Settlement) {
	f.Helper()
	got, err := tx.Tx.Settle(f.ctx(), settlements)
	f.ok(err)
	f.equal("the answer of Settle", got, want)
}

func testTx(c *chapter) {
	c.test("jobs exist when the caller commits, and not before", func(f *fixture) {
		tx, node := f.begin(), f.join
		job := f.enqueueIn(tx, plain())
		later := f.enqueueIn(tx, with(notBefore(f.now().Add(time.Hour)), keyed("k")))
		f.equal("the tally before", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
		_, err := f.store.Get(f.ctx(), job.ID)
		f.wantErr(err, fairlead.ErrNotFound)
		f.ok(tx.Commit())
		f.wantState(job, fairlead.Ready)
		f.wantState(later, fairlead.Scheduled)
		f.claimThe(job, node())
	})
	c.test("a job is not claimed before the commit", func(f *fixture) {
		f.needs(OtherWriters)
		node, tx := f.join(), f.begin()
		job := f.enqueueIn(tx, plain())
		f.wantClaim(node, everything())
		f.ok(tx.Commit())
		f.claimThe(job, node)
	})
	c.test("a job of a kind that a transaction was the first to use is found by its kind at once", func(f *fixture) {
		tx := f.begin()
		job := f.enqueueIn(tx, with(ofKind("new to all")))
		f.ok(tx.Commit())
		f.equal("what is found", ids(f.find(fairlead.Filter{Kinds: []string{"new to all"}})), []int64{job.ID})
		f.equal("the tally", f.tally(fairlead.Filter{Kinds: []string{"new to all"}}), map[fairlead.State]int64{fairlead.Ready: 1})
	})
	c.test("jobs never exist if the caller rolls back", func(f *fixture) {
		tx := f.begin()
		job := f.enqueueIn(tx, with(keyed("k"), ofKind("first seen in a transaction")), plain())
		f.ok(tx.Rollback())
		f.wantGone(job)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
		f.wantClaim(f.join(), everything(kind, "first seen in a transaction"))
		f.wantFree("k")
	})
	c.test("a taken key conflicts", func(f *fixture) {
		holder, tx := f.enqueue(with(keyed("k"))), f.begin()
		f.wantTaken(tx.Tx.Enqueue(f.ctx(), []*fairlead.Job{normalized(with(keyed("k")))}), holder)
		f.ok(tx.Rollback())
	})
	c.test("Enqueue that conflicts has stored nothing", func(f *fixture) {
		holder, tx := f.enqueue(with(keyed("taken"))), f.begin()
		jobs := []*fairlead.Job{normalized(with(keyed("free"))), normalized(with(keyed("taken")))}
		f.wantTaken(tx.Tx.Enqueue(f.ctx(), jobs), holder)
		f.ok(tx.Commit())
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
		f.wantFree("free")
	})
	c.test("Enqueue that conflicts has replaced nothing", func(f *fixture) {
		running, waiting, tx := f.running(keyed("taken")), f.enqueue(with(keyed("old"))), f.begin()
		replacing := onDuplicate(fairlead.ReplaceDuplicate)
		jobs := []*fairlead.Job{normalized(with(keyed("old"), replacing)), normalized(with(keyed("taken"), replacing))}
		f.wantTaken(tx.Tx.Enqueue(f.ctx(), jobs), running)
		f.ok(tx.Commit())
		f.wantState(waiting, fairlead.Ready)
	})
	c.test("a key of the transaction itself is taken too", func(f *fixture) {
		tx := f.begin()
		holder := f.enqueueIn(tx, with(keyed("k")))
		double := f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.KeepDuplicate)))
		f.equal("the ID", double.ID, holder.ID)
		fresh := f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		f.ok(tx.Commit())
		f.wantState(holder, fairlead.Cancelled)
		f.wantState(fresh, fairlead.Ready)
	})
	c.test("a holder that was replaced in a transaction is untouched if that rolls back", func(f *fixture) {
		holder, tx := f.enqueue(with(keyed("k"))), f.begin()
		f.enqueueIn(tx, with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		f.ok(tx.Rollback())
		f.wantState(holder, fairlead.Ready)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
	})
	c.test("a settlement counts when the caller commits", func(f *fixture) {
		job := f.running(keyed("k"))
		tx := f.begin()
		f.settleIn(tx, []fairlead.Settled{asAsked}, success(job, `"in tx"`))
		f.wantState(job, fairlead.Running)
		f.ok(tx.Commit())
		f.equal("Output", string(f.wantState(job, fairlead.Succeeded).Output), `"in tx"`)
		f.wantFree("k")
		f.settle(to(fairlead.Succeed, job)) // the engine does the same when the handler returns
	})
	c.test("a settlement never happened if the caller rolls back", func(f *fixture) {
		job := f.running(keyed("k"))
		tx := f.begin()
		f.settleIn(tx, []fairlead.Settled{asAsked}, success(job, `1`))
		f.ok(tx.Rollback())
		f.wantState(job, fairlead.Running)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), job)
		f.settle(again(job, 0))
	})
	c.test("every move works in a transaction", func(f *fixture) {
		node, jobs := f.join(), many(7)
		f.enqueue(jobs...)
		jobs = f.claim(node, len(jobs))
		snooze := to(fairlead.Snooze, jobs[4])
		snooze.After = time.Minute
		retry := again(jobs[3], time.Minute)
		retry.Memo = json.RawMessage(`"m"`)
		tx := f.begin()
		f.settleIn(tx, make([]fairlead.Settled, 7),
			success(jobs[0], `1`), failure(jobs[1], "no"), to(fairlead.Drop, jobs[2]), retry, snooze, to(fairlead.MoveRelease, jobs[5]), wait(jobs[6]))
		f.ok(tx.Commit())
		for i, state := range []fairlead.State{
			fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Scheduled, fairlead.Scheduled, fairlead.Ready, fairlead.Waiting,
		} {
			f.wantState(jobs[i], state)
		}
		f.equal("Memo", string(f.get(jobs[3]).Memo), `"m"`)
	})
	c.test("a lost lease is told in a transaction", func(f *fixture) {
		job := f.running()
		f.crash(job)
		tx := f.begin()
		f.settleIn(tx, []fairlead.Settled{lost}, to(fairlead.Succeed, job))
		f.ok(tx.Rollback())
		f.wantState(job, fairlead.Ready)
	})
	testTxTwice(c)
	c.test("enqueuing and settling commit together", func(f *fixture) {
		for _, commits := range []bool{false, true} {
			job := f.running(inQueue("own"))
			before := f.tally(fairlead.Filter{})[fairlead.Ready]
			tx := f.begin()
			f.enqueueIn(tx, many(3)...)
			f.settleIn(tx, []fairlead.Settled{asAsked}, to(fairlead.Succeed, job))
			if !commits {
				f.ok(tx.Rollback())
				f.equal("how many are ready", f.tally(fairlead.Filter{})[fairlead.Ready], before)
				f.settle(to(fairlead.Succeed, job))
				continue
			}
			f.ok(tx.Commit())
			f.wantState(job, fairlead.Succeeded)
			f.equal("how many are ready", f.tally(fairlead.Filter{})[fairlead.Ready], before+3)
		}
	})
	c.test("a rollback may come after the commit", func(f *fixture) {
		tx := f.begin()
		job := f.enqueueIn(tx, plain())
		f.ok(tx.Commit())
		_ = tx.Rollback() // callers defer Rollback; drivers return an error because the transaction has ended
		f.wantState(job, fairlead.Ready)
	})
}

// testTxTwice covers callers that repeat their transaction because the answer to its commit
// was lost.
func testTxTwice(c *chapter) {
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		c.test(named("repeating", move, "in another transaction is lost and changes nothing"), func(f *fixture) {
			job := f.running()
			tx := f.begin()
			f.settleIn(tx, []fairlead.Settled{asAsked}, to(move, job))
			f.ok(tx.Commit())
			before := f.get(job)
			f.Advance(time.Minute)
			again := f.begin()
			f.settleIn(again, []fairlead.Settled{lost}, to(move, job))
			f.ok(again.Commit())
			f.equal("the job", f.get(job), before)
		})
	}
	c.test("of many in another transaction those are lost that were made before", func(f *fixture) {
		jobs := many(20)
		f.enqueue(jobs...)
		jobs = f.claim(f.join(), len(jobs))
		f.settle(to(fairlead.Succeed, jobs[0]))
		settlements, want := make([]fairlead.Settlement, len(jobs)), make([]fairlead.Settled, len(jobs))
		for i, job := range jobs {
			settlements[i] = to(fairlead.Succeed, job)
		}
		want[0] = lost
		tx := f.begin()
		f.settleIn(tx, want, settlements...)
		f.ok(tx.Commit())
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: 20})
	})
	c.test("one that replaces its job is lost if it was made before, and enqueues nothing", func(f *fixture) {
		job := f.running()
		for _, want := range []fairlead.Settled{asAsked, lost} {
			replacing := to(fairlead.Succeed, job)
			replacing.Replace = plain()
			tx := f.begin()
			f.settleIn(tx, []fairlead.Settled{want}, replacing)
			f.ok(tx.Commit())
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: 1, fairlead.Ready: 1})
	})
	c.test("Complete says that the lease is lost if the job was completed before", func(f *fixture) {
		job := f.running()
		complete := func() error {
			tx := f.begin()
			err := fairlead.NewClient(f.store).Within(tx.Tx).Complete(f.ctx(), job, json.RawMessage(`"first"`))
			if err != nil {
				f.ok(tx.Rollback())
				return err
			}
			return tx.Commit()
		}
		f.ok(complete())
		f.wantErr(complete(), fairlead.ErrLeaseLost)
	})
	c.test("Complete says that the lease is lost if a crash has ended the job", func(f *fixture) {
		job := f.running(cancelOnCrash)
		f.crash(job)
		tx := f.begin()
		f.wantErr(fairlead.NewClient(f.store).Within(tx.Tx).Complete(f.ctx(), job, nil), fairlead.ErrLeaseLost)
		f.ok(tx.Rollback())
		f.wantState(job, fairlead.Cancelled)
	})
	for move, want := range map[fairlead.Move]fairlead.Settled{
		fairlead.Succeed: asAsked, fairlead.Fail: lost, fairlead.Drop: lost, fairlead.Again: lost, fairlead.Snooze: lost, fairlead.MoveRelease: lost,
	} {
		c.test(named("a job that was completed stays so when its handler returns and its node says", move), func(f *fixture) {
			job := f.running()
			tx := f.begin()
			f.settleIn(tx, []fairlead.Settled{asAsked}, success(job, `"in tx"`))
			f.ok(tx.Commit())
			before := f.get(job)
			f.Advance(time.Minute)
			f.wantSettled([]fairlead.Settled{want}, to(move, job))
			f.equal("the job", f.get(job), before)
			f.equal("the number of recorded attempts", len(f.attempts(job)), 0)
		})
	}
}
