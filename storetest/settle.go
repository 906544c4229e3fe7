package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Short names for the answers of Settle.
const (
	asAsked   = fairlead.SettledAsAsked
	cancelled = fairlead.SettledCancelled
	lost      = fairlead.SettledLost
)

func testSettle(c *chapter) {
	c.test("settlements of which one has an unknown move are refused, and none is made", func(f *fixture) {
		for _, move := range []fairlead.Move{"", "fly"} {
			good, bad := f.running(), f.running()
			settled, err := f.store.Settle(f.ctx(), []fairlead.Settlement{to(fairlead.Succeed, good), to(move, bad)})
			f.wantErr(err, fairlead.ErrInvalid)
			f.equal("the answer", settled, []fairlead.Settled(nil))
			f.wantState(good, fairlead.Running)
			f.wantState(bad, fairlead.Running)
			f.settle(to(fairlead.Succeed, good), to(fairlead.Succeed, bad))
		}
	})
	c.test("a replacement that is refused fails the job, and the job says so", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		job := f.running(ofKind("other"))
		settlement := to(fairlead.Succeed, job)
		settlement.Replace = with(keyed("k"))
		f.settle(settlement)
		found := f.wantState(job, fairlead.Failed)
		f.equal("its error", found.Error, fmt.Sprintf("its replacement was refused: key \"k\" of tenant \"default\" is held by job %d: conflict", holder.ID))
	})
	testSucceed(c)
	testFail(c)
	testAgain(c)
	testSnoozeAndGiveUp(c)
	testSettleKeeps(c)
	testSettleFence(c)
	testSettleMany(c)
}

func testSucceed(c *chapter) {
	c.test("Succeed ends the job as succeeded, with its output", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		success := to(fairlead.Succeed, job)
		success.Output = json.RawMessage(`{"sent": true}`)
		f.settle(success)
		found := f.wantState(job, fairlead.Succeeded)
		f.equal("Output", string(found.Output), `{"sent": true}`)
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("Failures", found.Failures, 0)
		f.equal("what its node holds", f.held(job.Node), []driver.Held(nil))
	})
	c.test("Succeed without output leaves none", func(f *fixture) {
		job := f.in(fairlead.Succeeded)
		if found := f.get(job); len(found.Output) != 0 {
			f.Fatalf("Output is %q", found.Output)
		}
	})
	c.test("Replace is enqueued with the success", func(f *fixture) {
		job := f.running()
		success := to(fairlead.Succeed, job)
		success.Replace = normalized(with(priority(4), func(j *fairlead.Job) { j.Args = json.RawMessage(`[1]`) }))
		f.settle(success)
		f.wantState(job, fairlead.Succeeded)
		f.equal("its ID is set", success.Replace.ID > job.ID, true)
		found := f.wantState(success.Replace, fairlead.Ready)
		f.equal("Args", string(found.Args), `[1]`)
		f.equal("Priority", found.Priority, 4)
	})
	c.test("Replace may have as large args as any job", func(f *fixture) {
		job := f.running()
		success := to(fairlead.Succeed, job)
		success.Replace = normalized(with(func(j *fairlead.Job) { j.Args = argsOf(fairlead.MaxArgs) }))
		f.settle(success)
		f.wantState(job, fairlead.Succeeded)
		f.equal("the size of its args", len(f.wantState(success.Replace, fairlead.Ready).Args), fairlead.MaxArgs)
	})
	c.test("Replace with larger args fails the job", func(f *fixture) {
		job := f.running()
		success := to(fairlead.Succeed, job)
		success.Replace = with(func(j *fairlead.Job) { j.Args = argsOf(fairlead.MaxArgs + 1) })
		f.settle(success)
		f.equal("Reason", f.wantState(job, fairlead.Failed).Reason, fairlead.ReasonError)
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 1)
	})
	c.test("Replace is enqueued with no other move", func(f *fixture) {
		job := f.running()
		failed := to(fairlead.Fail, job)
		failed.Replace = normalized(with())
		f.settle(failed)
		f.wantState(job, fairlead.Failed)
		f.equal("its ID", failed.Replace.ID, int64(0))
		f.equal("how many jobs there are", len(f.find(fairlead.Filter{})), 1)
	})
	c.test("Replace can be scheduled, and take over the key", func(f *fixture) {
		job := f.running(keyed("k"))
		success := to(fairlead.Succeed, job)
		success.Replace = normalized(with(keyed("k"), notBefore(f.now().Add(time.Hour))))
		f.settle(success)
		f.wantState(success.Replace, fairlead.Scheduled)
		f.wantTaken(f.tryEnqueue(with(keyed("k"))), success.Replace)
	})
	c.test("Replace with a key that is taken fails the job, and that job only", func(f *fixture) {
		holder, job, other := f.in(fairlead.Scheduled, keyed("k")), f.in(fairlead.Running), f.in(fairlead.Running)
		success := to(fairlead.Succeed, job)
		success.Replace = normalized(with(keyed("k")))
		f.settle(success, to(fairlead.Succeed, other))
		f.wantState(holder, fairlead.Scheduled)
		f.wantState(other, fairlead.Succeeded)
		found := f.wantState(job, fairlead.Failed)
		f.equal("Reason", found.Reason, fairlead.ReasonError)
		f.equal("the number of jobs", len(f.find(fairlead.Filter{})), 3)
	})
	c.test("Replace is not enqueued if the lease is lost, nor twice if the settlement is repeated", func(f *fixture) {
		job := f.running()
		stale, success := to(fairlead.Succeed, job), to(fairlead.Succeed, job)
		stale.Fence--
		stale.Replace = normalized(plain())
		f.wantSettled([]fairlead.Settled{lost}, stale)
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Running: 1})
		for range 2 {
			success.Replace = normalized(plain())
			f.settle(success)
			f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Succeeded: 1, fairlead.Ready: 1})
		}
	})
}

// argsOf returns a document of a size in bytes.
func argsOf(size int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
}

// normalized returns a job as the engine passes it to Settle.
func normalized(job *fairlead.Job) *fairlead.Job {
	if err := fairlead.NormalizeJobs([]*fairlead.Job{job}); err != nil {
		panic(err) // jobs of this suite are always valid
	}
	return job
}

func testFail(c *chapter) {
	c.test("Fail ends the job as failed and records the attempt", func(f *fixture) {
		job := f.running()
		started := f.now()
		f.Advance(time.Minute)
		failure := to(fairlead.Fail, job)
		failure.Reason, failure.Error = fairlead.ReasonFatal, "no such invoice"
		f.settle(failure)
		found := f.wantState(job, fairlead.Failed)
		f.equal("Failures", found.Failures, 1)
		f.equal("Reason", found.Reason, fairlead.ReasonFatal)
		f.equal("Error", found.Error, "no such invoice")
		f.equal("the attempts", f.attempts(job), []fairlead.Attempt{{
			Run: 1, Fence: job.Fence, Node: job.Node, StartedAt: started, FinishedAt: f.now(), Reason: fairlead.ReasonFatal, Error: "no such invoice",
		}})
	})
	c.test("Drop ends the job as cancelled", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		drop := to(fairlead.Drop, job)
		drop.Error = "came too late"
		f.settle(drop)
		found := f.wantState(job, fairlead.Cancelled)
		f.equal("Error", found.Error, "came too late")
		f.equal("FinishedAt", found.FinishedAt, f.now())
		f.equal("Failures", found.Failures, 0)
		f.equal("the attempts", f.attempts(job), []fairlead.Attempt(nil))
	})
	c.test("an error text of any length and content is kept as well as can be", func(f *fixture) {
		for _, text := range []string{"\xff broken \xfe", "with \x00 zero", string(make([]byte, 100_000)), fmt.Sprintf("%01000000d", 7), "ünïcödé 🦊"} {
			job := f.running()
			failure := to(fairlead.Fail, job)
			failure.Reason, failure.Error = fairlead.ReasonError, text
			f.settle(failure)
			if found := f.wantState(job, fairlead.Failed); found.Error == "" {
				f.Fatal("nothing is left of the error text")
			}
		}
	})
}

func testAgain(c *chapter) {
	c.test("Again schedules the next attempt, counts a failure and records the attempt", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		f.settle(again(job, 5*time.Second))
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("NotBefore", found.NotBefore, f.now().Add(5*time.Second))
		f.equal("Attempt", found.Attempt, 1)
		f.equal("Failures", found.Failures, 1)
		f.equal("the attempts", f.attempts(job), []fairlead.Attempt{{
			Run: 1, Fence: job.Fence, Node: job.Node, StartedAt: job.StartedAt, FinishedAt: f.now(), Reason: fairlead.ReasonError, Error: "no luck",
		}})
		f.Advance(5 * time.Second)
		f.promote()
		f.equal("Attempt of the next run", f.claimThe(job, job.Node).Attempt, 2)
	})
	c.test("Again at a time is due then", func(f *fixture) {
		job := f.running()
		retry := again(job, 0)
		retry.At = f.now().Add(time.Hour)
		f.settle(retry)
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, retry.At)
	})
	c.test("Again without a pause makes the job ready at once", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		f.wantState(job, fairlead.Ready)
		job = f.claimThe(job, job.Node)
		retry := again(job, 0)
		retry.At = f.now().Add(-time.Second)
		f.settle(retry)
		f.equal("Failures", f.wantState(job, fairlead.Ready).Failures, 2)
	})
	c.test("Again keeps StartBy and priority", func(f *fixture) {
		at := f.now().Add(10 * time.Minute)
		job := f.running(startBy(at), priority(3))
		f.settle(again(job, time.Second))
		f.equal("StartBy", f.get(job).StartBy, at)
		f.Advance(time.Second)
		f.promote()
		found := f.wantState(job, fairlead.Ready)
		f.equal("StartBy", found.StartBy, at)
		f.equal("Priority", found.Priority, 3)
	})
}

func testSnoozeAndGiveUp(c *chapter) {
	c.test("Snooze schedules the next run and is no failure", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		snooze := to(fairlead.Snooze, job)
		snooze.After = 5 * time.Second
		f.settle(snooze)
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("NotBefore", found.NotBefore, f.now().Add(5*time.Second))
		f.equal("Failures", found.Failures, 0)
		f.Advance(5 * time.Second)
		f.promote()
		f.equal("Attempt of the next run", f.claimThe(job, job.Node).Attempt, 2)
	})
	c.test("Snooze until a time is due then", func(f *fixture) {
		job := f.running()
		snooze := to(fairlead.Snooze, job)
		snooze.At = f.now().Add(time.Hour)
		f.settle(snooze)
		f.equal("NotBefore", f.wantState(job, fairlead.Scheduled).NotBefore, snooze.At)
	})
	c.test("Snooze without a pause makes the job ready at once", func(f *fixture) {
		job := f.running()
		f.settle(to(fairlead.Snooze, job))
		f.equal("Attempt", f.wantState(job, fairlead.Ready).Attempt, 1)
	})
	c.test("Snooze keeps failures and crashes", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		f.crash(f.claimThe(job, f.join()))
		snooze := to(fairlead.Snooze, f.claimThe(job, f.join()))
		snooze.After = time.Second
		f.settle(snooze)
		found := f.wantState(job, fairlead.Scheduled)
		f.equal("Failures", found.Failures, 1)
		f.equal("Crashes", found.Crashes, 1)
		f.equal("Attempt", found.Attempt, 3)
	})
	c.test("GiveUp makes the job ready as if never claimed", func(f *fixture) {
		job := f.enqueue(with(priority(2)))
		before := f.get(job)
		claimed := f.claimThe(job, f.join())
		f.Advance(time.Minute)
		f.settle(to(fairlead.MoveRelease, claimed))
		f.equal("the job", f.get(job), before)
	})
	c.test("GiveUp uses up no attempt number", func(f *fixture) {
		job := f.running()
		f.settle(again(job, 0))
		claimed := f.claimThe(job, job.Node)
		f.settle(to(fairlead.MoveRelease, claimed))
		found := f.wantState(job, fairlead.Ready)
		f.equal("Attempt", found.Attempt, 1)
		f.equal("Failures", found.Failures, 1)
		f.equal("Attempt of the next run", f.claimThe(job, job.Node).Attempt, 2)
	})
	c.test("Wait leaves the job waiting until its deadline", func(f *fixture) {
		job := f.running()
		f.Advance(time.Minute)
		await := to(fairlead.MoveAwait, job)
		await.After = 30 * time.Second
		f.settle(await)
		found := f.wantState(job, fairlead.Waiting)
		f.equal("Deadline", found.Deadline, f.now().Add(30*time.Second))
		f.equal("Attempt", found.Attempt, 1)
		f.equal("what its node holds", f.held(job.Node), []driver.Held(nil))
	})
}

func testSettleKeeps(c *chapter) {
	moves := []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait}
	for _, move := range moves {
		c.test(named(move, "keeps memo and progress"), func(f *fixture) {
			job := f.running()
			settlement := to(move, job)
			settlement.After = time.Minute
			settlement.Memo, settlement.Progress = json.RawMessage(`"m"`), json.RawMessage(`0.5`)
			f.settle(settlement)
			found := f.get(job)
			f.equal("Memo", string(found.Memo), `"m"`)
			f.equal("Progress", string(found.Progress), `0.5`)
		})
		c.test(named(move, "leaves memo and progress as they were if it has none"), func(f *fixture) {
			job := f.running()
			f.ok(f.store.Save(f.ctx(), fairlead.Save{ID: job.ID, Fence: job.Fence, Memo: json.RawMessage(`"m"`), Progress: json.RawMessage(`0.5`)}))
			settlement := to(move, job)
			settlement.After = time.Minute
			f.settle(settlement)
			found := f.get(job)
			f.equal("Memo", string(found.Memo), `"m"`)
			f.equal("Progress", string(found.Progress), `0.5`)
		})
	}
	c.test("the next run finds the memo", func(f *fixture) {
		job := f.running()
		for _, memo := range []string{`1`, `{"two": 2}`} {
			retry := again(job, 0)
			retry.Memo = json.RawMessage(memo)
			f.settle(retry)
			job = f.claimThe(job, job.Node)
			f.equal("Memo", string(job.Memo), memo)
		}
	})
}
