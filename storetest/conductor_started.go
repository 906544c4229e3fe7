package storetest

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// testStartedTasks covers tasks whose handlers started but did not finish.
func testStartedTasks(c *chapter) {
	c.test("Recall leaves a job whose handler had begun when its run was released", func(f *fixture) {
		b, p := f.opened(3)
		jobs := f.letOut(b, p)
		claimed := f.claim(f.join(), 1)
		f.settle(to(fairlead.MoveRelease, claimed[0]))
		f.equal("what was recalled", f.recall(b.ID, p.First, p.Last()), ids(jobs[1:]))
		f.equal("its attempt number", f.wantState(jobs[0], fairlead.Ready).Attempt, 0)
	})
	c.test("a batch that is rolled back puts back what a drained task has changed", func(f *fixture) {
		d := newDials(f, "dial", 2)
		b := d.turn()
		d.drain(d.claimTasks(1)[0])
		b = d.rollBack(b, batch.RollBack{})
		d.wantChanged()
		d.equal("how they stand", d.taskStates(b), []batch.TaskState{batch.TaskRollbackSuccess, batch.TaskCancel})
	})
	c.test("a batch that was cancelled can be rolled back after one of its tasks was drained", func(f *fixture) {
		d := newDials(f, "dial", 2)
		b := d.turn()
		d.drain(d.claimTasks(1)[0])
		d.acted(d.batches.Cancel(d.ctx(), b.ID, ""))
		b = d.finish(b)
		b = d.rollBack(b, batch.RollBack{})
		d.wantChanged()
		d.equal("its state", b.State(), batch.RollbackSuccess)
	})
	c.test("a task that was drained before its batch was paused and resumed is rolled back to what was there at first", func(f *fixture) {
		d := newDials(f, "dial", 2)
		b := d.turn()
		d.drain(d.claimTasks(1)[0])
		d.acted(d.batches.Pause(d.ctx(), b.ID, ""))
		d.acted(d.batches.Resume(d.ctx(), b.ID))
		b = d.finish(b)
		d.wantChanged("0", "1")
		b = d.rollBack(b, batch.RollBack{})
		d.wantChanged()
		d.equal("its state", b.State(), batch.RollbackSuccess)
	})
	c.test("a retried task that is cancelled before it starts is failed as it was, and is rolled back with the failed ones", func(f *fixture) {
		d := newDials(f, "dial", 1)
		b := d.turn()
		job := d.claimTasks(1)[0]
		d.ok(d.work(job))
		d.settle(to(fairlead.Fail, job))
		b = d.finish(b)
		d.acted(d.batches.Retry(d.ctx(), b.ID))
		b = d.look(b)
		tasks, err := d.batches.Tasks(d.ctx(), batch.TaskFilter{Batch: b.ID})
		d.ok(err)
		d.ok(fairlead.NewClient(d.store).Cancel(d.ctx(), tasks[0].Job, ""))
		b = d.finish(b)
		d.equal("how it stands", d.taskStates(b), []batch.TaskState{batch.TaskFail})
		d.rollBack(b, batch.RollBack{Failed: true})
		d.wantChanged()
	})
	c.test("a drained task that fails in its next run is rolled back with those that succeeded", func(f *fixture) {
		d := newDials(f, "dial", 2)
		b := d.turn()
		drained := d.claimTasks(1)[0]
		d.drain(drained)
		again := d.claimTasks(1)[0]
		d.equal("the task that runs", again.ID, drained.ID)
		d.settle(to(fairlead.Fail, again))
		b = d.finish(b)
		d.equal("how they stand", d.taskStates(b), []batch.TaskState{batch.TaskFail, batch.TaskSuccess})
		d.rollBack(b, batch.RollBack{})
		d.wantChanged()
	})
	for _, failed := range []bool{false, true} {
		sentence := "a task that was cancelled while it ran is rolled back"
		if failed {
			sentence += ", also with the failed ones"
		}
		c.test(sentence, func(f *fixture) {
			d := newDials(f, "dial", 3)
			b := d.turn()
			job := d.claimTasks(1)[0]
			d.ok(d.work(job))
			d.ok(operations(d.store).Cancel(d.ctx(), job.ID, "enough"))
			d.wantSettled([]fairlead.Settled{fairlead.SettledCancelled}, to(fairlead.Drop, job))
			d.ok(operations(d.store).Cancel(d.ctx(), job.ID+1, "it never ran"))
			b = d.finish(b)
			d.equal("how they stand", d.taskStates(b), []batch.TaskState{batch.TaskCancel, batch.TaskCancel, batch.TaskSuccess})
			b = d.rollBack(b, batch.RollBack{Failed: failed})
			d.wantChanged()
			d.equal("how they stand then", d.taskStates(b), []batch.TaskState{batch.TaskRollbackSuccess, batch.TaskCancel, batch.TaskRollbackSuccess})
		})
	}
	c.test("a task that was drained and then cancelled is rolled back", func(f *fixture) {
		d := newDials(f, "dial", 2)
		b := d.turn()
		job := d.claimTasks(1)[0]
		d.drain(job)
		d.ok(operations(d.store).Cancel(d.ctx(), job.ID, "enough"))
		b = d.finish(b)
		d.equal("how they stand", d.taskStates(b), []batch.TaskState{batch.TaskCancel, batch.TaskSuccess})
		b = d.rollBack(b, batch.RollBack{Tasks: []int64{job.ID}})
		d.wantChanged("1")
		d.rollBack(b, batch.RollBack{})
		d.wantChanged()
	})
}

// drain makes a claimed task change its target, and releases its run like a node that shuts
// down.
func (d *dials) drain(job *fairlead.Job) {
	d.Helper()
	d.ok(d.work(job))
	d.settle(to(fairlead.MoveRelease, job))
}
