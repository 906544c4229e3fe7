package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/schedule"
)

func testBulkSteps(c *chapter) {
	for _, action := range []struct {
		bulk   bulk.Bulk
		method string
		after  string // in the audit log, after the bulk
		from   fairlead.State
		hit    func(f *fixture, job *fairlead.Job)
	}{
		{cancelAll(), "CancelJob", `,"reason":"enough"`, fairlead.Scheduled, func(f *fixture, job *fairlead.Job) {
			f.equal("why", f.wantState(job, fairlead.Cancelled).Error, "enough")
		}},
		{bulk.Bulk{Action: bulk.Retry}, "RetryJob", "", fairlead.Failed, func(f *fixture, job *fairlead.Job) { f.wantState(job, fairlead.Ready) }},
		{bulk.Bulk{Action: bulk.Run}, "RunJob", "", fairlead.Scheduled, func(f *fixture, job *fairlead.Job) { f.wantState(job, fairlead.Ready) }},
		{bulk.Bulk{Action: bulk.Delete}, "DeleteJob", "", fairlead.Succeeded, func(f *fixture, job *fairlead.Job) { f.wantGone(job) }},
		{bulk.Bulk{Action: bulk.Prioritize, Priority: 7}, "SetJobPriority", `,"priority":7`, fairlead.Ready, func(f *fixture, job *fairlead.Job) {
			f.equal("Priority", f.wantState(job, fairlead.Ready).Priority, 7)
		}},
		{bulk.Bulk{Action: bulk.Move, Queue: "spare"}, "MoveJob", `,"queue":"spare"`, fairlead.Ready, func(f *fixture, job *fairlead.Job) {
			f.equal("Queue", f.wantState(job, fairlead.Ready).Queue, "spare")
		}},
	} {
		c.test(named("a step of", action.bulk.Action, "acts upon its jobs, with an entry of the audit log for each"), func(f *fixture) {
			jobs := []*fairlead.Job{f.in(action.from, forTenant("acme")), f.in(action.from)}
			rest := f.in(action.from)
			before := f.get(rest)
			asked := action.bulk
			asked.Actor, asked.Role, asked.From = "ann", access.RoleOperator, "192.0.2.1"
			run := f.begun(asked)
			b := run.step(jobs[0].ID, jobs...)
			f.equal("its state", b.State, bulk.Running)
			f.equal("its cursor", b.Cursor, jobs[0].ID)
			run.wantCounts(2, 0)
			for _, job := range jobs {
				action.hit(f, job)
			}
			f.equal("the rest", f.get(rest), before)
			entries := f.auditLog(access.Filter{Action: action.method})
			f.equal("subjects", subjects(entries), []string{subject(jobs[1]), subject(jobs[0])})
			for i, tenant := range []string{fairlead.DefaultTenant, "acme"} {
				e := entries[i]
				f.equal("who did it", []string{e.Actor, string(e.Role), e.From, e.Tenant}, []string{"ann", "operator", "192.0.2.1", tenant})
				f.equal("what it says", string(e.After), fmt.Sprintf(`{"bulk":%d%s}`, b.ID, action.after))
			}
		})
	}
	c.test("a step moves jobs of many tenants to a queue that none of them had", func(f *fixture) {
		jobs := ofTenants(30, inQueue("old"))
		f.enqueue(jobs...)
		run := f.begun(bulk.Bulk{Action: bulk.Move, Queue: "unheard of"})
		run.step(0, jobs...)
		run.wantCounts(30, 0)
		for _, job := range jobs {
			f.equal("Queue", f.wantState(job, fairlead.Ready).Queue, "unheard of")
		}
	})
	c.test("jobs whose state forbids it are misses with a reason, and the others are acted upon", func(f *fixture) {
		good, ended, gone := f.enqueue(plain()), f.in(fairlead.Succeeded), f.enqueue(plain())
		f.ok(operations(f.store).Delete(f.ctx(), gone.ID))
		run := f.begun(cancelAll())
		run.step(0, gone, ended, good)
		f.wantState(good, fairlead.Cancelled)
		f.wantState(ended, fairlead.Succeeded)
		run.wantCounts(1, 2)
		why := map[int64]string{}
		for _, miss := range f.misses(run.bulk.ID) {
			why[miss.Job] = miss.Why
		}
		f.equal("the misses", why, map[int64]string{
			ended.ID: fmt.Sprintf("cannot cancel job %d: it is succeeded", ended.ID), gone.ID: fmt.Sprintf("job %d is gone", gone.ID),
		})
	})
	for _, state := range []fairlead.State{fairlead.Ready, fairlead.Scheduled} {
		c.test(named("a job that has become", state, "is left if the filter does not name that state, though the action allows it"), func(f *fixture) {
			job := f.in(state)
			run := f.begun(bulk.Bulk{Action: bulk.Delete, Filter: fairlead.Filter{States: []fairlead.State{fairlead.Failed}}})
			run.step(0, job)
			f.wantState(job, state)
			run.wantCounts(0, 1)
		})
	}
	c.test("a job whose key is taken is a miss when it is retried, and stays as it was", func(f *fixture) {
		job := f.in(fairlead.Cancelled, keyed("k"))
		f.enqueue(with(keyed("k")))
		other := f.in(fairlead.Cancelled)
		run := f.begun(bulk.Bulk{Action: bulk.Retry})
		run.step(0, other, job)
		f.wantState(job, fairlead.Cancelled)
		f.wantState(other, fairlead.Ready)
		run.wantCounts(1, 1)
	})
	c.test("tasks of batches are misses with a reason when they are retried", func(f *fixture) {
		b, chunk := f.opened(2)
		tasks, other := f.letOut(b, chunk), f.in(fairlead.Failed)
		for _, task := range f.claim(f.join(), 2) {
			f.settle(to(fairlead.Fail, task))
		}
		run := f.begun(bulk.Bulk{Action: bulk.Retry})
		run.step(0, other, tasks[1], tasks[0])
		f.wantState(other, fairlead.Ready)
		for i, miss := range f.misses(run.bulk.ID) {
			task := tasks[1-i]
			f.wantState(task, fairlead.Failed)
			f.equal("why", miss.Why, fmt.Sprintf("cannot retry job %d: it is a task of batch %d; retry it through the batch", task.ID, b.ID))
		}
		run.wantCounts(1, 2)
	})
	c.test("a step retries no more runs of a schedule than may be active", func(f *fixture) {
		s := f.plan("s", func(s *schedule.Schedule) { s.MaxConcurrency = 1 })
		var jobs []*fairlead.Job
		for range 5 {
			jobs = append(jobs, jobOf(f.failedRun(s)))
		}
		slices.Reverse(jobs)
		run := f.begun(bulk.Bulk{Action: bulk.Retry})
		run.step(0, jobs...)
		run.wantCounts(1, 4)
		f.equal("the runs", f.tally(fairlead.Filter{Kinds: []string{f.get(jobs[0]).Kind}}), map[fairlead.State]int64{fairlead.Ready: 1, fairlead.Failed: 4})
	})
	c.test("what a step gives up is a miss", func(f *fixture) {
		run := f.begun(cancelAll())
		step := run.stepOf(0)
		step.GiveUp = []bulk.Miss{{Job: 9, Why: "not this one"}, {Job: 4, Why: "nor this"}}
		run.make(step)
		f.equal("the misses", f.misses(run.bulk.ID), step.GiveUp)
		run.wantCounts(0, 2)
	})
	c.test("misses are listed a page at a time, in the order in which the bulk met them", func(f *fixture) {
		run := f.begun(cancelAll())
		step := run.stepOf(0)
		for job := int64(5); job > 0; job-- {
			step.GiveUp = append(step.GiveUp, bulk.Miss{Job: job, Why: "no"})
		}
		run.make(step)
		page, err := f.store.BulkMisses(f.ctx(), run.bulk.ID, bulk.MissFilter{Below: 5, Limit: 2})
		f.ok(err)
		f.equal("the page", page, step.GiveUp[1:3])
	})
	c.test("a step that is repeated counts once", func(f *fixture) {
		jobs := many(2)
		f.enqueue(jobs...)
		run := f.begun(cancelAll())
		step := run.stepOf(jobs[0].ID, jobs...)
		first := run.make(step)
		f.equal("the answer", run.make(step), first)
		run.wantCounts(2, 0)
		f.equal("entries", len(f.auditLog(access.Filter{Action: "CancelJob"})), 2)
	})
	c.test("the last step ends the bulk, and no other follows", func(f *fixture) {
		job := f.enqueue(plain())
		run := f.begun(cancelAll())
		b := run.step(0)
		f.equal("its state", b.State, bulk.Completed)
		f.equal("its times", []time.Time{b.StartedAt, b.FinishedAt}, []time.Time{f.now(), f.now()})
		run.step(0, job)
		f.wantState(job, fairlead.Ready)
	})
	c.test("a bulk that was asked to stop ends with its next step, which acts upon no job", func(f *fixture) {
		jobs := many(3)
		f.enqueue(jobs...)
		run := f.begun(cancelAll())
		run.step(jobs[2].ID, jobs[2])
		f.ok(f.store.StopBulk(f.ctx(), run.bulk.ID))
		f.ok(f.store.StopBulk(f.ctx(), run.bulk.ID))
		f.equal("whether it stops", f.theBulk(run.bulk.ID).Stopping, true)
		b := run.step(jobs[1].ID, jobs[1])
		f.equal("its state", b.State, bulk.Stopped)
		f.equal("its cursor", b.Cursor, jobs[2].ID)
		f.wantState(jobs[1], fairlead.Ready)
		run.wantCounts(1, 0)
	})
	c.test("a step under another fence than that of the run fails with ErrLeaseLost and changes nothing", func(f *fixture) {
		job := f.enqueue(plain())
		run := f.begun(cancelAll())
		old := run.stepOf(0, job)
		f.crash(run.job)
		_, err := f.store.StepBulk(f.ctx(), old)
		f.wantErr(err, fairlead.ErrLeaseLost)
		next := f.carry(run.bulk)
		_, err = f.store.StepBulk(f.ctx(), old)
		f.wantErr(err, fairlead.ErrLeaseLost)
		f.wantState(job, fairlead.Ready)
		next.step(0, job)
		next.wantCounts(1, 0)
	})
	c.test("a step of an unknown bulk fails with ErrNotFound", func(f *fixture) {
		_, err := f.store.StepBulk(f.ctx(), bulk.Step{Bulk: unknown})
		f.wantErr(err, fairlead.ErrNotFound)
	})
	c.test("a step that cannot be kept leaves no trace", func(f *fixture) {
		job := f.enqueue(plain())
		run := f.begun(cancelAll())
		step := run.stepOf(0, job)
		step.GiveUp = []bulk.Miss{{Job: 3, Why: "twice"}, {Job: 3, Why: "twice"}}
		if _, err := f.store.StepBulk(f.ctx(), step); err == nil {
			f.Fatal("one job was missed twice")
		}
		f.wantState(job, fairlead.Ready)
		run.wantCounts(0, 0)
		f.equal("entries", len(f.auditLog(access.Filter{Action: "CancelJob"})), 0)
	})
	c.test("nodes that serve the queue are woken for jobs that are retried, and gates admit them", func(f *fixture) {
		jobs := f.queueUp(2)
		for _, job := range slices.Backward(jobs) {
			f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		}
		run := f.begun(bulk.Bulk{Action: bulk.Retry})
		run.step(0, jobs[1], jobs[0])
		f.wantState(jobs[0], fairlead.Ready)
		f.wantState(jobs[1], fairlead.Parked)
	})
	c.test("tasks that their batch has not counted are misses when they are deleted", func(f *fixture) {
		task, other := f.letOut(f.opened(1))[0], f.enqueue(plain())
		run := f.begun(bulk.Bulk{Action: bulk.Delete})
		run.step(0, other, task)
		f.wantState(task, fairlead.Ready)
		f.wantGone(other)
		run.wantCounts(1, 1)
	})
}

func subject(job *fairlead.Job) string { return fmt.Sprintf("job:%d", job.ID) }
