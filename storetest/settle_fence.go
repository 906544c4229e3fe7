package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// testSettleFence covers settlements that arrive late, twice or without a lease.
func testSettleFence(c *chapter) {
	moves := []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
	c.test("a fence that is not current is lost and changes nothing", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		current := f.claimThe(job, f.join())
		before := f.get(job)
		for _, move := range moves {
			for _, fence := range []int64{job.Fence, current.Fence + 1, 0, -1} {
				stale := to(move, job)
				stale.Fence, stale.After = fence, time.Second
				stale.Memo, stale.Progress = json.RawMessage(`"stale"`), json.RawMessage(`"stale"`)
				f.wantSettled([]fairlead.Settled{lost}, stale)
			}
		}
		f.equal("the job", f.get(job), before)
		f.equal("the number of recorded attempts", len(f.attempts(job)), 1)
		f.settle(to(fairlead.Succeed, current))
	})
	for _, limited := range []bool{false, true} {
		name := "of many plain successes of one claim, one whose job another node has by now is lost, and no other"
		if limited {
			name += ", also under a limit"
		}
		c.test(name, func(f *fixture) {
			if limited {
				f.cap(fairlead.LimitGlobal, "", 100)
			}
			f.enqueue(many(plainMany)...)
			jobs := f.claim(f.join(), plainMany)
			f.settle(again(jobs[3], 0))
			theirs := f.claimThe(jobs[3], f.join())
			want := make([]fairlead.Settled, plainMany)
			want[3] = lost
			f.wantSettled(want, plainSuccesses(jobs)...)
			f.equal("Fence", f.wantState(theirs, fairlead.Running).Fence, theirs.Fence)
			if limited {
				f.wantUse(fairlead.LimitGlobal, "", 1)
			}
			f.settle(to(fairlead.Succeed, theirs))
			f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: plainMany})
		})
	}
	c.test("a job that is not running is lost", func(f *fixture) {
		for _, state := range []fairlead.State{fairlead.Scheduled, fairlead.Ready} {
			job := f.in(state)
			f.wantSettled([]fairlead.Settled{lost}, to(fairlead.Succeed, job))
			f.wantState(job, state)
		}
	})
	c.test("an unknown job is lost", func(f *fixture) {
		f.wantSettled([]fairlead.Settled{lost, lost}, fairlead.Settlement{ID: unknown, Fence: 1, Move: fairlead.Succeed}, fairlead.Settlement{ID: unknown, Fence: 1, Move: fairlead.Again})
	})
	c.test("a job that was reaped is lost to its node", func(f *fixture) {
		job := f.running()
		f.crash(job)
		f.wantSettled([]fairlead.Settled{lost}, to(fairlead.Succeed, job))
		f.wantState(job, fairlead.Ready)
	})
	testSettleReaped(c, moves)
	c.test("a job that ended and was reopened is lost", func(f *fixture) {
		job := f.in(fairlead.Failed)
		f.ok(operations(f.store).Reopen(f.ctx(), job.ID))
		f.wantSettled([]fairlead.Settled{lost}, to(fairlead.Succeed, job))
		f.wantState(job, fairlead.Ready)
	})
	c.test("the fence counts and not the lease: a node that is late but not reaped can settle", func(f *fixture) {
		job := f.enqueue(plain())
		claimed := f.claimThe(job, f.joinFor(time.Second))
		f.Advance(time.Minute)
		f.settle(to(fairlead.Succeed, claimed))
	})
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		c.test(named("repeating", move, "is fine and changes nothing"), func(f *fixture) {
			job := f.running(keyed("k"))
			settlement := to(move, job)
			settlement.Reason, settlement.Error = fairlead.ReasonError, "first"
			f.settle(settlement)
			before := f.get(job)
			f.Advance(time.Minute)
			holder := f.enqueue(with(keyed("k")))
			settlement.Error = "second"
			f.settle(settlement)
			f.equal("the job", f.get(job), before)
			f.wantTaken(f.tryEnqueue(with(keyed("k"))), holder)
		})
	}
	c.test("a settlement that is twice in one call counts once", func(f *fixture) {
		job, other := f.running(), f.running(inQueue("other"))
		f.settle(to(fairlead.Succeed, job), to(fairlead.Succeed, other), to(fairlead.Succeed, job))
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: 2})
	})
	c.test("of many that settle one fence at once all are told the same story", func(f *fixture) {
		job, answers := f.running(), make([]fairlead.Settled, 6)
		errs := f.rivals(len(answers), func(i int, store Store) error {
			got, err := SettleAll(f.ctx(), store, []fairlead.Settlement{to(fairlead.Succeed, job)})
			if err == nil {
				answers[i] = got[0]
			}
			return err
		})
		for i, answer := range answers {
			f.ok(errs[i])
			f.equal("the answer", answer, asAsked)
		}
		f.wantState(job, fairlead.Succeeded)
	})
}

// testSettleReaped covers nodes that come back after Reap has ended their jobs.
func testSettleReaped(c *chapter, moves []fairlead.Move) {
	wantLost := func(f *fixture, job *fairlead.Job, ended fairlead.State) {
		f.Helper()
		wantReapedLost(f, job, moves, ended, fairlead.ReasonCrash)
	}
	c.test("a job that was reaped as poison is lost to its node", func(f *fixture) {
		job := f.running()
		f.ok(f.store.Leave(f.ctx(), job.Node))
		_, err := f.store.Reap(f.ctx(), driver.Reap{MaxCrashes: 0, Limit: 10})
		f.ok(err)
		wantLost(f, job, fairlead.Failed)
	})
	c.test("a job that a crash cancelled is lost to its node", func(f *fixture) {
		job := f.running(cancelOnCrash)
		f.crash(job)
		wantLost(f, job, fairlead.Cancelled)
	})
	c.test("a job that a lost lease cancelled is lost to its node, also if that says that it lives", func(f *fixture) {
		before, after := f.running(cancelOnCrash), f.running(cancelOnCrash)
		f.lived(before)
		f.crash(before)
		f.crash(after)
		f.lived(after)
		wantReapedLost(f, before, moves, fairlead.Cancelled, fairlead.ReasonLeaseLost)
		wantReapedLost(f, after, moves, fairlead.Cancelled, fairlead.ReasonCrash)
	})
	c.test("a job that was reaped and cancelled as somebody had asked is lost to its node", func(f *fixture) {
		job := f.running()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, "enough"))
		f.crash(job)
		wantLost(f, job, fairlead.Cancelled)
	})
	c.test("of many the reaped are lost and the repeated are fine", func(f *fixture) {
		jobs := make([]*fairlead.Job, 20)
		for i := range jobs {
			jobs[i] = with(cancelOnCrash)
		}
		f.enqueue(jobs...)
		jobs = f.claim(f.join(), len(jobs))
		settlements, want := make([]fairlead.Settlement, len(jobs)), make([]fairlead.Settled, len(jobs))
		for i, job := range jobs {
			settlements[i] = to(fairlead.Succeed, job)
			if i >= 15 {
				want[i] = lost
			}
		}
		f.settle(settlements[:15]...)
		f.ok(f.store.Leave(f.ctx(), jobs[0].Node))
		f.equal("what is reaped", f.reap(), driver.Reaped{Cancelled: 5})
		f.wantSettled(want, settlements...)
	})
	c.test("a job that a crash cancelled is lost though its node has dropped another that was claimed with it", func(f *fixture) {
		f.enqueue(with(cancelOnCrash), with(cancelOnCrash))
		jobs := f.claim(f.join(), 2)
		f.settle(to(fairlead.Drop, jobs[0]))
		f.crash(jobs[1])
		f.wantSettled([]fairlead.Settled{lost, asAsked}, to(fairlead.Drop, jobs[1]), to(fairlead.Drop, jobs[0]))
	})
	c.test("a job whose earlier run crashed is not lost to its last", func(f *fixture) {
		job := f.running()
		f.crash(job)
		last := f.claimThe(job, f.join())
		f.settle(to(fairlead.Succeed, last))
		f.settle(to(fairlead.Succeed, last))
		f.wantSettled([]fairlead.Settled{lost}, to(fairlead.Succeed, job))
	})
}

// testSettleMany covers calls with more than one settlement.
func testSettleMany(c *chapter) {
	c.test("the answer has one entry per settlement, in order", func(f *fixture) {
		node, jobs := f.join(), many(8)
		f.enqueue(jobs...)
		jobs = f.claim(node, 8)
		f.ok(operations(f.store).Cancel(f.ctx(), jobs[3].ID, "stop"))
		stale := to(fairlead.Succeed, jobs[1])
		stale.Fence--
		staleRetry := again(jobs[5], time.Second)
		staleRetry.Fence++
		f.wantSettled(
			[]fairlead.Settled{asAsked, lost, asAsked, cancelled, asAsked, lost, asAsked, lost, asAsked},
			to(fairlead.Succeed, jobs[0]), stale, to(fairlead.Fail, jobs[2]), again(jobs[3], time.Second), to(fairlead.MoveRelease, jobs[4]),
			staleRetry, wait(jobs[6]), fairlead.Settlement{ID: unknown, Fence: 5, Move: fairlead.Succeed}, again(jobs[7], time.Second))
		for i, state := range []fairlead.State{
			fairlead.Succeeded, fairlead.Running, fairlead.Failed, fairlead.Cancelled, fairlead.Ready, fairlead.Running, fairlead.Waiting, fairlead.Scheduled,
		} {
			f.wantState(jobs[i], state)
		}
	})
	c.test("of jobs that were claimed together one that has another lease by now keeps it", func(f *fixture) {
		f.enqueue(many(2)...)
		jobs := f.claim(f.join(), 2)
		f.settle(to(fairlead.MoveRelease, jobs[1]))
		current := f.claimThe(jobs[1], f.join())
		f.wantSettled([]fairlead.Settled{asAsked, lost}, to(fairlead.Succeed, jobs[0]), to(fairlead.Succeed, jobs[1]))
		f.wantState(jobs[0], fairlead.Succeeded)
		f.equal("its fence", f.wantState(jobs[1], fairlead.Running).Fence, current.Fence)
		f.settle(to(fairlead.Succeed, current))
	})
	c.test("each of many successes keeps what it brings besides, and its key is free", func(f *fixture) {
		const each = 10
		var jobs []*fairlead.Job
		for i := range 5 * each {
			job := plain()
			if i%5 == 4 {
				job = with(keyed(fmt.Sprint(i)))
			}
			jobs = append(jobs, job)
		}
		f.enqueue(jobs...)
		f.claim(f.join(), len(jobs))
		var settlements []fairlead.Settlement
		for i, job := range jobs {
			success := to(fairlead.Succeed, f.get(job))
			text := json.RawMessage(fmt.Sprint(i))
			switch i % 5 {
			case 1:
				success.Output = text
			case 2:
				success.Memo = text
			case 3:
				success.Progress = text
			}
			success.FreeKey = i%5 == 4
			settlements = append(settlements, success)
		}
		f.settle(settlements...)
		for i, job := range jobs {
			var want [5]string
			want[i%5] = fmt.Sprint(i)
			found := f.wantState(job, fairlead.Succeeded)
			f.equal("what a job brought", []string{string(found.Output), string(found.Memo), string(found.Progress)}, want[1:4])
			if i%5 == 4 {
				f.enqueue(with(keyed(fmt.Sprint(i))))
			}
		}
	})
	c.test("a call without settlements gets no answers", func(f *fixture) {
		got, err := f.store.Settle(f.ctx(), nil)
		f.ok(err)
		f.equal("the answer", got, []fairlead.Settled(nil))
	})
	c.test("a thousand at once, every fifth lost", func(f *fixture) {
		jobs := many(f.size(250, 1000, "settles a thousand at once"))
		f.enqueue(jobs...)
		claimed := f.claim(f.join(), len(jobs))
		rand.Shuffle(len(claimed), func(i, k int) { claimed[i], claimed[k] = claimed[k], claimed[i] })
		settlements, want := make([]fairlead.Settlement, len(claimed)), make([]fairlead.Settled, len(claimed))
		for i, job := range claimed {
			settlements[i] = to(fairlead.Succeed, job)
			if i%2 == 1 {
				settlements[i].Output = json.RawMessage(`"odd"`)
			}
			if i%5 == 0 {
				settlements[i].Fence++
				want[i] = lost
			}
		}
		f.wantSettled(want, settlements...)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: int64(len(jobs) / 5 * 4), fairlead.Running: int64(len(jobs) / 5)})
		f.wantSettled(want, settlements...)
		f.equal("the output of an odd one", string(f.get(claimed[1]).Output), `"odd"`)
	})
}

// wantReapedLost checks that no settlement by the former node changes a reaped job.
func wantReapedLost(f *fixture, job *fairlead.Job, moves []fairlead.Move, ended fairlead.State, reason fairlead.Reason) {
	f.Helper()
	before := f.wantState(job, ended)
	f.Advance(time.Minute)
	for _, move := range moves {
		late := to(move, job)
		late.After, late.Memo, late.Progress = time.Second, json.RawMessage(`"late"`), json.RawMessage(`"late"`)
		f.wantSettled([]fairlead.Settled{lost}, late)
	}
	f.wantSettled([]fairlead.Settled{lost}, to(fairlead.Succeed, job)) // success is lost too
	f.equal("the job", f.get(job), before)
	f.equal("the reasons of its attempts", reasons(f.attempts(job)), []fairlead.Reason{reason})
}

// plainMany is a number of plain successes that is large enough for a store to settle them
// together.
const plainMany = 12

// plainSuccesses returns settlements that only report success.
func plainSuccesses(jobs []*fairlead.Job) []fairlead.Settlement {
	list := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		list[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
	}
	return list
}
