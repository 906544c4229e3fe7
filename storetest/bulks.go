package storetest

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
)

// bulkScope returns the scope of nodes that carry out bulks.
func bulkScope() *driver.Scope { return &driver.Scope{Kinds: []string{bulk.Kind}} }

// startBulk stores a bulk.
func (f *fixture) startBulk(b bulk.Bulk) bulk.Bulk {
	f.Helper()
	f.Advance(time.Second) // jobs created until now are older than the bulk
	stored, err := bulk.NewClient(f.store).Start(f.ctx(), b)
	f.ok(err)
	return stored
}

// carry is a run of a bulk's job.
type carry struct {
	*fixture
	bulk bulk.Bulk
	job  *fairlead.Job
}

// carry makes a node run the job of a bulk.
func (f *fixture) carry(b bulk.Bulk) *carry {
	f.Helper()
	claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: bulkScope(), Max: 1})
	f.equal("what was claimed", ids(claimed), []int64{b.ID})
	return &carry{f, b, claimed[0]}
}

// begun stores a bulk and starts a run of its job.
func (f *fixture) begun(b bulk.Bulk) *carry {
	f.Helper()
	return f.carry(f.startBulk(b))
}

// stepOf returns a step that starts at the bulk's cursor.
func (c *carry) stepOf(next int64, jobs ...*fairlead.Job) bulk.Step {
	step := bulk.Step{Bulk: c.bulk.ID, Fence: c.job.Fence, Cursor: c.bulk.Cursor, Next: next}
	for _, job := range jobs {
		step.Jobs = append(step.Jobs, bulk.Subject{ID: job.ID, Tenant: job.Tenant, Fence: job.Fence})
	}
	return step
}

// make performs a step that must be accepted.
func (c *carry) make(step bulk.Step) bulk.Bulk {
	c.Helper()
	b, err := c.store.StepBulk(c.ctx(), step)
	c.ok(err)
	c.bulk = b
	return b
}

// step acts on jobs and sets the cursor; zero = the last step.
func (c *carry) step(next int64, jobs ...*fairlead.Job) bulk.Bulk {
	c.Helper()
	return c.make(c.stepOf(next, jobs...))
}

// wantCounts checks the numbers of changed and unchanged jobs.
func (c *carry) wantCounts(done, missed int64) {
	c.Helper()
	b := c.theBulk(c.bulk.ID)
	c.equal("done and missed", []int64{b.Done, b.Missed}, []int64{done, missed})
	c.equal("the number of misses", int64(len(c.misses(b.ID))), missed)
}

// bulkOf stores a bulk for jobs of some tenants.
func (f *fixture) bulkOf(tenants ...string) int64 {
	f.Helper()
	b := cancelAll()
	b.Filter.Tenants = tenants
	return f.startBulk(b).ID
}

// wantBulks checks a page of bulks.
func (f *fixture) wantBulks(filter bulk.Filter, want []int64, next int64) {
	f.Helper()
	page, err := f.store.Bulks(f.ctx(), filter)
	f.ok(err)
	var got []int64
	for _, b := range page.Bulks {
		got = append(got, b.ID)
	}
	f.equal("the bulks", got, want)
	f.equal("where the next page begins", page.Next, next)
}

// theBulk reads a bulk.
func (f *fixture) theBulk(id int64) bulk.Bulk {
	f.Helper()
	b, err := bulk.NewClient(f.store).Get(f.ctx(), id)
	f.ok(err)
	return b
}

func (f *fixture) misses(id int64) []bulk.Miss {
	f.Helper()
	misses, err := f.store.BulkMisses(f.ctx(), id, bulk.MissFilter{})
	f.ok(err)
	return misses
}

// forgetBulks deletes all bulks, whose jobs are gone.
func (f *fixture) forgetBulks() error {
	f.Advance(time.Second)
	for {
		removed, err := f.store.Prune(f.ctx(), driver.Retention{Succeeded: time.Millisecond, Cancelled: time.Millisecond}, tooMany)
		if err != nil || removed == 0 {
			return err
		}
	}
}

// cancelAll returns a bulk that cancels all jobs that it can.
func cancelAll() bulk.Bulk {
	return bulk.Bulk{Action: bulk.Cancel, Reason: "enough", Actor: "ann", Role: access.RoleOperator, From: "192.0.2.1"}
}

func testBulks(c *chapter) {
	c.test("a bulk is kept with all that was asked for, under the ID of the job that carries it out", func(f *fixture) {
		f.enqueue(many(3)...)
		at := time.Date(2031, 2, 3, 4, 5, 6, 7000, time.UTC)
		asked := bulk.Bulk{
			Cause:  "order N not found",
			Action: bulk.Move, Reason: "full", Queue: "spare", Rate: 2.5, Actor: "ann", Role: access.RoleOperator, From: "192.0.2.1",
			Filter: fairlead.Filter{
				IDs: []int64{1, 2}, States: []fairlead.State{fairlead.Ready}, Kinds: []string{"a"}, Queues: []string{"b"}, Tenants: []string{"c"},
				Key: "k", From: at.Add(-time.Hour), To: f.now().Add(-time.Minute), FinishedFrom: at, OnFail: fairlead.RemoveFailed,
			},
		}
		stored := f.startBulk(asked)
		asked.ID, asked.Status = stored.ID, bulk.Status{State: bulk.Pending, CreatedAt: f.now(), Newest: stored.Newest}
		f.equal("what was stored", stored, asked)
		f.equal("what is read", f.theBulk(stored.ID), asked)
		f.equal("its kind", f.get(&fairlead.Job{ID: stored.ID}).Kind, bulk.Kind)
	})
	c.test("it counts what matches when it is made", func(f *fixture) {
		f.enqueue(many(3)...)
		f.equal("Matched", f.startBulk(cancelAll()).Matched, int64(3))
	})
	c.test("bulks are listed newest first, a page at a time", func(f *fixture) {
		var want []int64
		for range 5 {
			want = append(want, f.startBulk(cancelAll()).ID)
		}
		slices.Reverse(want)
		f.wantBulks(bulk.Filter{}, want, 0)
		f.wantBulks(bulk.Filter{Limit: 2}, want[:2], want[1])
		f.wantBulks(bulk.Filter{Limit: 2, Below: want[1]}, want[2:4], want[3])
		f.wantBulks(bulk.Filter{Limit: 2, Below: want[3]}, want[4:], 0)
		f.wantBulks(bulk.Filter{Limit: 5}, want, 0)
		f.wantBulks(bulk.Filter{IDs: []int64{want[3], want[1], unknown}}, []int64{want[1], want[3]}, 0)
	})
	c.test("a list by tenants has the bulks that are about their jobs alone", func(f *fixture) {
		f.bulkOf()
		f.bulkOf("a", "x")
		own, both := f.bulkOf("a"), f.bulkOf("b", "a")
		f.wantBulks(bulk.Filter{Tenants: []string{"a", "b"}}, []int64{both, own}, 0)
	})
	c.test("a page of a list by tenants may be empty and have a next one", func(f *fixture) {
		own, last := f.bulkOf("a"), int64(0)
		for range 12 {
			last = f.bulkOf("x")
		}
		page, err := f.store.Bulks(f.ctx(), bulk.Filter{Tenants: []string{"a"}, Limit: 1})
		f.ok(err)
		f.equal("how many bulks it has", len(page.Bulks), 0)
		if page.Next <= own || page.Next >= last {
			f.Fatalf("the next page begins below %d", page.Next)
		}
		f.wantBulks(bulk.Filter{Tenants: []string{"a"}, Below: page.Next, Limit: 1}, []int64{own}, 0)
	})
	c.test("stopping an unknown bulk gets ErrNotFound, one that has ended ErrConflict", func(f *fixture) {
		f.wantErr(f.store.StopBulk(f.ctx(), unknown), fairlead.ErrNotFound)
		run := f.begun(cancelAll())
		run.step(0)
		f.wantErr(f.store.StopBulk(f.ctx(), run.bulk.ID), fairlead.ErrConflict)
	})
	c.test("a bulk whose job was cancelled is stopped", func(f *fixture) {
		b := f.startBulk(cancelAll())
		f.ok(operations(f.store).Cancel(f.ctx(), b.ID, ""))
		got := f.theBulk(b.ID)
		f.equal("its state", got.State, bulk.Stopped)
		f.equal("its end", got.FinishedAt, f.now())
		f.wantErr(f.store.StopBulk(f.ctx(), b.ID), fairlead.ErrConflict)
	})
	c.test("a bulk whose job has failed or is gone has failed, and goes on when its job is retried", func(f *fixture) {
		job := f.enqueue(plain())
		run := f.begun(cancelAll())
		f.settle(to(fairlead.Fail, run.job))
		f.equal("its state", f.theBulk(run.bulk.ID).State, bulk.Failed)
		f.ok(operations(f.store).Reopen(f.ctx(), run.bulk.ID))
		again := f.carry(run.bulk)
		f.equal("its state", again.step(0, job).State, bulk.Completed)
		gone := f.startBulk(cancelAll())
		f.ok(operations(f.store).Delete(f.ctx(), gone.ID))
		f.equal("its state", f.theBulk(gone.ID).State, bulk.Failed)
	})
	c.test("Prune removes bulks with their misses when they are older than they are kept", func(f *fixture) {
		job := f.enqueue(plain())
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		run := f.begun(cancelAll())
		run.step(0, job)
		f.settle(to(fairlead.Succeed, run.job))
		stopped := f.begun(cancelAll())
		f.ok(f.store.StopBulk(f.ctx(), stopped.bulk.ID))
		stopped.step(0)
		f.Advance(2 * time.Hour)
		live := f.startBulk(cancelAll())
		keep := driver.Retention{Succeeded: time.Hour, Cancelled: 10 * time.Hour}
		for removed := 1; removed > 0; {
			var err error
			removed, err = f.store.Prune(f.ctx(), keep, 1)
			f.ok(err)
		}
		f.wantBulks(bulk.Filter{}, []int64{live.ID, stopped.bulk.ID}, 0)
		f.equal("misses", f.misses(run.bulk.ID), []bulk.Miss{})
	})
	c.test("Prune removes bulks that ended with their jobs when these are gone, also if others are kept for ever", func(f *fixture) {
		kept, cancelled, deleted := f.begun(cancelAll()), f.startBulk(cancelAll()), f.startBulk(cancelAll())
		kept.step(0)
		f.settle(to(fairlead.Succeed, kept.job))
		f.ok(operations(f.store).Cancel(f.ctx(), cancelled.ID, ""))
		f.ok(operations(f.store).Delete(f.ctx(), deleted.ID))
		f.Advance(2 * time.Hour)
		for removed := 1; removed > 0; {
			var err error
			removed, err = f.store.Prune(f.ctx(), driver.Retention{Cancelled: time.Hour}, 10)
			f.ok(err)
		}
		f.wantBulks(bulk.Filter{}, []int64{kept.bulk.ID}, 0)
	})
	c.test("DeleteBulk removes a bulk that has ended, with its misses", func(f *fixture) {
		run := f.begun(cancelAll())
		f.wantErr(f.store.DeleteBulk(f.ctx(), run.bulk.ID), fairlead.ErrConflict)
		step := run.stepOf(0)
		step.GiveUp = []bulk.Miss{{Job: 9, Why: "not this one"}}
		run.make(step)
		f.ok(f.store.DeleteBulk(f.ctx(), run.bulk.ID))
		f.wantBulks(bulk.Filter{}, nil, 0)
		f.equal("misses", f.misses(run.bulk.ID), []bulk.Miss{})
		f.wantErr(f.store.DeleteBulk(f.ctx(), run.bulk.ID), fairlead.ErrNotFound)
	})
	c.test("a bulk that was deleted after its job had failed does not go on when the job is retried", func(f *fixture) {
		job := f.enqueue(plain())
		run := f.begun(cancelAll())
		f.settle(to(fairlead.Fail, run.job))
		f.ok(f.store.DeleteBulk(f.ctx(), run.bulk.ID))
		f.ok(operations(f.store).Reopen(f.ctx(), run.bulk.ID))
		again := f.carry(run.bulk)
		_, err := f.store.StepBulk(f.ctx(), again.stepOf(0, job))
		f.wantErr(err, fairlead.ErrNotFound)
		f.wantState(job, fairlead.Ready)
	})
	c.test("Newest is below the jobs that there are if none is dated after the bulk", func(f *fixture) {
		job := f.enqueue(plain())
		if b := f.startBulk(cancelAll()); b.Newest >= job.ID {
			f.Fatalf("job %d is not above %d", job.ID, b.Newest)
		}
	})
	c.test("Newest of a bulk that is made after the clock was set back is not below the jobs that there are", func(f *fixture) {
		jobs := many(3)
		f.enqueue(jobs...)
		f.Advance(-time.Hour)
		f.enqueue(plain())
		if b := f.startBulk(cancelAll()); b.Newest < jobs[2].ID {
			f.Fatalf("job %d is above %d", jobs[2].ID, b.Newest)
		}
		f.Advance(time.Hour)
	})
}
