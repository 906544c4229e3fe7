package storetest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// lostTables lists the tables with the states of jobs and the memos of handlers.
var lostTables = []string{"ready", "running", "done", "memo"}

// copyJobs copies the state of the jobs. The returned function restores it, which loses all
// commits since.
func (b *tail) copyJobs(f *fixture) (lose func()) {
	f.Helper()
	for _, table := range lostTables {
		b.exec("create table fairlead_copy_%[1]s as select * from fairlead_%[1]s", table)
	}
	return func() {
		f.Helper()
		for _, table := range lostTables {
			b.exec("delete from fairlead_%s", table)
			b.exec("insert into fairlead_%[1]s select * from fairlead_copy_%[1]s", table)
			b.exec("drop table fairlead_copy_%s", table)
		}
		_, err := f.store.(driver.Restorer).Restored(f.ctx())
		f.ok(err)
	}
}

// testTasks covers tasks of batches that ran in lost commits.
func (b *tail) testTasks(t *testing.T) {
	b.test(t, "a task that may have run in lost commits is doubtful", func(f *fixture, b *tail) {
		d := newDials(f, "lost-dial", 4)
		started := d.turn()
		d.succeed(d.claimTasks(1)[0])
		remembered := d.claimTasks(1)[0]
		d.ok(d.work(remembered))
		lose := b.copyJobs(f)
		d.succeed(d.claimTasks(1)[0])
		lose()
		d.settle(to(fairlead.MoveRelease, remembered)) // the task runs again, with its memo
		started = d.finish(started)
		d.equal("how many are doubtful", started.Doubtful, 2)
		d.wantDoubtful(started, false, false, true, true)
		planned, total, err := d.batches.PlanRollBack(d.ctx(), started.ID, batch.RollBack{}, 10)
		d.ok(err)
		d.equal("how many would be undone", total, 4)
		d.equal("how many of these are doubtful", len(slices.DeleteFunc(planned, func(task batch.Task) bool { return !task.Doubtful })), 2)
		started = d.rollBack(started, batch.RollBack{})
		d.equal("its state", started.State(), batch.RollbackSuccess)
		d.wantChanged("2") // the task read its own result
		d.wantDoubtful(started, false, false, true, true)
		doubtful, err := d.batches.Tasks(d.ctx(), batch.TaskFilter{Batch: started.ID, Doubtful: true})
		d.ok(err)
		d.equal("how many are listed as doubtful", len(doubtful), 2)
		situation, err := d.batches.Explain(d.ctx(), started.ID)
		d.ok(err)
		d.equal("what explains it first", situation.Reasons[0].Code, fairlead.IsDoubtful)
	})
	b.test(t, "a task whose caller said what was there before is not doubtful after lost commits", func(f *fixture, b *tail) {
		d := newDials(f, "given-dial", 2)
		started := d.turn(givesBefore)
		lose := b.copyJobs(f)
		d.succeed(d.claimTasks(1)[0])
		lose()
		started = d.finish(started)
		d.wantDoubtful(started, false, false)
		started = d.rollBack(started, batch.RollBack{})
		d.wantChanged()
		d.equal("its state", started.State(), batch.RollbackSuccess)
		d.equal("how many are doubtful", started.Doubtful, 0)
	})
	b.test(t, "a batch that is rolled back after lost commits undoes what they may have applied, or says that it is doubtful", func(f *fixture, b *tail) {
		for _, known := range []bool{false, true} {
			d := newDials(f, "cancelled-dial", 2)
			var changes []func(*batch.Change)
			if known {
				changes = append(changes, givesBefore)
			}
			started := d.turn(changes...)
			lose := b.copyJobs(f)
			d.succeed(d.claimTasks(1)[0])
			lose()
			started = d.rollBack(started, batch.RollBack{})
			d.wantDoubtful(started, !known, !known)
			if known {
				d.wantChanged()
			} else {
				d.equal("how they stand", d.taskStates(started), []batch.TaskState{batch.TaskCancel, batch.TaskCancel})
			}
		}
	})
	b.test(t, "a task that fails after lost commits may have been applied before", func(f *fixture, b *tail) {
		d := newDials(f, "failing-dial", 2)
		started := d.turn()
		lose := b.copyJobs(f)
		d.succeed(d.claimTasks(1)[0])
		lose()
		d.refuse = errRefused
		started = d.finish(started)
		d.refuse = nil
		d.equal("how they stand", d.taskStates(started), []batch.TaskState{batch.TaskFail, batch.TaskFail})
		d.wantDoubtful(started, true, true)
		started = d.rollBack(started, batch.RollBack{})
		d.equal("its state", started.State(), batch.RollbackFail)
	})
	b.test(t, "no task of a batch that is created after lost commits is doubtful", func(f *fixture, b *tail) {
		b.copyJobs(f)()
		d := newDials(f, "later-dial", 2)
		started := d.finish(d.turn())
		d.wantDoubtful(started, false, false)
		d.equal("how many are doubtful", started.Doubtful, 0)
	})
}

// givesBefore sets the previous state in a change.
func givesBefore(change *batch.Change) { change.Before = json.RawMessage(dialBefore) }

// succeed completes a claimed task.
func (d *dials) succeed(job *fairlead.Job) {
	d.Helper()
	d.ok(d.work(job))
	d.settle(to(fairlead.Succeed, job))
}

// wantDoubtful checks which tasks are doubtful, in order.
func (d *dials) wantDoubtful(b batch.Batch, want ...bool) {
	d.Helper()
	var doubtful []bool
	for _, task := range d.tasks(b) {
		doubtful = append(doubtful, task.Doubtful)
	}
	d.equal("which are doubtful", doubtful, want)
}
