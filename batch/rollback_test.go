package batch_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// succeedInTurn ends jobs one after the other.
func (m *moving) succeedInTurn(jobs ...*fairlead.Job) {
	m.Helper()
	for _, job := range jobs {
		m.clock.Advance(time.Second)
		m.succeed(job)
	}
}

func TestRollBackPutsBackWhatWasThere(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(4)
	m.succeedInTurn(jobs[1], jobs[3], jobs[0])
	m.fail(jobs[2])
	m.look(b.ID)
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{RollbackPending: 3, Fail: 1})
	m.equal("its state", b.State(), batch.RollbackPending)
	undone := m.start(10)
	var order []int64
	for _, job := range undone {
		task := taskOf(job)
		m.equal("it undoes", task.Undo, true)
		order = append(order, task.Task)
	}
	m.equal("the order", order, []int64{jobs[0].ID, jobs[3].ID, jobs[1].ID})
	m.equal("what it puts back", taskOf(undone[0]).Change, boxes(1)[0])
	_, err := m.batches.RollBack(t.Context(), b.ID, batch.RollBack{})
	m.conflicts("rolling back what is rolled back", err)
	_, err = m.batches.Cancel(t.Context(), b.ID, "")
	m.conflicts("cancelling what is rolled back", err)
	m.succeed(undone...)
	b = m.look(b.ID)
	m.equal("its state", b.State(), batch.RollbackSuccess)
	m.equal("it has ended", b.EndedAt.IsZero(), false)
	_, err = m.batches.RollBack(t.Context(), b.ID, batch.RollBack{})
	m.conflicts("rolling back what was rolled back", err)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Failed: true}))
	m.equal("what is undone then", taskOf(m.start(10)[0]).Task, jobs[2].ID)
}

func TestRollBackOfChosenTasks(t *testing.T) {
	m := newMoving(t)
	b := m.create(5)
	jobs := m.start(3)
	m.succeed(jobs[:2]...)
	m.look(b.ID)
	_, err := m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Tasks: []int64{jobs[2].ID}})
	m.conflicts("rolling back a task that runs", err)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Tasks: []int64{jobs[1].ID}}))
	m.equal("how they stand", m.stands(b.ID), []batch.TaskState{
		batch.TaskSuccess, batch.TaskRollbackPending, batch.TaskRunning, batch.TaskPending, batch.TaskPending,
	})
	m.succeed(jobs[2])
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 4, RollbackSuccess: 1})
	m.equal("its state", b.State(), batch.Success)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 5})
}

func TestRollBackOfFailedTasks(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(4)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.end(fairlead.Fail, fairlead.ReasonTimeout, jobs[2]) // it may have been applied
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{RollbackPending: 2, Fail: 1, Running: 1})
	m.fail(jobs[3])
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 2, Fail: 2})

	b = m.create(3)
	jobs = m.start(3)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Failed: true}))
	m.fail(jobs[2]) // late
	b = m.finish(b.ID)
	m.equal("the tally with those that failed", b.Tally, batch.Tally{RollbackSuccess: 3})
}

func TestASerialRollBackUndoesOneTaskAtATime(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(3)
	m.succeedInTurn(jobs...)
	m.look(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Serial: true, Tasks: jobIDs(jobs)}))
	for i := len(jobs) - 1; i >= 0; i-- {
		running := m.start(10)
		undone := slices.DeleteFunc(slices.Clone(running), func(job *fairlead.Job) bool { return !taskOf(job).Undo })
		m.equal("how many are undone at once", len(undone), 1)
		m.equal("which one", taskOf(undone[0]).Task, jobs[i].ID)
		m.succeed(running...)
		m.look(b.ID)
	}
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 3, Success: 1})
}

func TestARollBackIsResumed(t *testing.T) {
	m := newMoving(t)
	b := m.create(3)
	m.finish(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	undone := m.start(3)
	m.succeed(undone[0])
	m.fail(undone[1])
	m.end(fairlead.Again, fairlead.ReasonTimeout, undone[2])
	b = m.look(b.ID)
	m.equal("its state", b.State(), batch.RollbackRunning)
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 1, RollbackFail: 1, RollbackPending: 1})
	m.clock.Advance(3 * time.Second)
	_, err := m.store.Promote(t.Context(), 10)
	m.ok(err)
	again := m.start(3)
	m.equal("it still undoes", taskOf(again[0]).Undo, true)
	m.end(fairlead.Fail, fairlead.ReasonTimeout, again...)
	b = m.look(b.ID)
	m.equal("its state", b.State(), batch.RollbackFail)
	m.equal("it has ended", b.EndedAt.IsZero(), false)
	_, err = m.batches.Retry(t.Context(), b.ID)
	m.conflicts("retrying it", err)
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 1, RollbackPending: 2})
	b = m.finish(b.ID)
	m.equal("its state", b.State(), batch.RollbackSuccess)
}

func TestALateFinisherIsUndone(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	jobs := m.start(3)
	m.succeed(jobs[0])
	m.end(fairlead.Again, fairlead.ReasonTimeout, jobs[2])
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{RollbackPending: 1, Running: 1, Pending: 1, Cancel: 1})
	m.succeed(m.start(10)...)
	b = m.look(b.ID)
	m.equal("it has ended", b.EndedAt.IsZero(), true)
	m.succeed(jobs[1])
	m.clock.Advance(3 * time.Second)
	_, err := m.store.Promote(t.Context(), 10)
	m.ok(err)
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 3, Cancel: 1})
	m.equal("its state", b.State(), batch.RollbackSuccess)
}

func TestATaskThatFailedAfterATimeoutMayHaveBeenApplied(t *testing.T) {
	for name, chosen := range map[string]bool{"all tasks": false, "it is chosen": true} {
		t.Run(name, func(t *testing.T) { testTimedOut(t, chosen) })
	}
}

func testTimedOut(t *testing.T, chosen bool) {
	m := newMoving(t)
	b := m.create(2)
	jobs := m.start(2)
	m.end(fairlead.Again, fairlead.ReasonTimeout, jobs[0])
	m.fail(jobs[1])
	m.clock.Advance(3 * time.Second)
	_, err := m.store.Promote(t.Context(), 10)
	m.ok(err)
	m.fail(m.start(1)...)
	m.look(b.ID)
	var wanted batch.RollBack
	if chosen {
		wanted.Tasks = []int64{jobs[0].ID}
	}
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, wanted))
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 1, Fail: 1})
}

func TestRollBackBeforeAnythingWasApplied(t *testing.T) {
	m := newMoving(t)
	b := m.create(3)
	jobs := m.start(1)
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{Running: 1, Cancel: 2})
	m.succeed(jobs...)
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 1, Cancel: 2})
	b = m.acted(m.batches.RollBack(t.Context(), m.create(3).ID, batch.RollBack{}))
	m.equal("its state", b.State(), batch.Cancel)
	m.equal("it has ended", b.EndedAt.IsZero(), false)
}

func TestAPausedBatchIsRolledBackAndAPausedRollBackWaits(t *testing.T) {
	m := newMoving(t)
	b := m.create(4)
	m.succeed(m.start(2)...)
	m.acted(m.batches.Pause(t.Context(), b.ID, "lunch"))
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("it is paused", b.Paused, false)
	m.succeed(m.start(1)...)
	b = m.acted(m.batches.Pause(t.Context(), b.ID, "dinner"))
	m.equal("what can be started", len(m.start(10)), 0)
	m.equal("the tally", b.Tally, batch.Tally{RollbackSuccess: 1, RollbackPending: 1, Cancel: 2})
	m.acted(m.batches.Resume(t.Context(), b.ID))
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 2, Cancel: 2})
}

func TestWhatWasFoundBeforeIsPutBack(t *testing.T) {
	m := newMoving(t)
	changes := boxes(2)
	changes[0].Before, changes[1].Before = nil, nil
	b, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "move"}, changes...)
	m.ok(err)
	jobs := m.start(2)
	remember := func(job *fairlead.Job, memo string) {
		m.ok(m.store.Save(t.Context(), fairlead.Save{ID: job.ID, Fence: job.Fence, Memo: json.RawMessage(memo)}))
	}
	remember(jobs[0], `{"before":{"at":"here"}}`)
	remember(jobs[1], `{"before":{"at":"there"}}`)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.look(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	again := m.start(1)
	m.equal("what a retried task knows", string(taskOf(again[0]).Before), `{"at":"there"}`)
	m.succeed(again...)
	m.look(b.ID)
	for _, job := range jobs { // the batch does not need them any more
		m.ok(m.store.Operate(t.Context(), job.ID, fairlead.Operation{Op: fairlead.OpDelete}))
	}
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	put := map[int64]string{}
	for _, job := range m.start(2) {
		put[taskOf(job).Task] = string(taskOf(job).Before)
	}
	m.equal("what is put back", put, map[int64]string{jobs[0].ID: `{"at":"here"}`, jobs[1].ID: `{"at":"there"}`})
	tasks := m.tasks(batch.TaskFilter{Batch: b.ID})
	m.equal("what a task shows", string(tasks[0].Before), `{"at":"here"}`)
}

func TestWhatIsRememberedOfARollBackIsNotPutBack(t *testing.T) {
	m := newMoving(t)
	change := boxes(1)[0]
	change.Before = nil
	b, err := m.batches.Start(t.Context(), batch.Batch{Name: "spring", Type: "move"}, change)
	m.ok(err)
	m.succeed(m.start(1)...)
	m.look(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	job := m.start(1)[0]
	_, err = m.store.Settle(t.Context(), []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: fairlead.Fail, Memo: []byte(`{"before":{"at":"sea"}}`)}})
	m.ok(err)
	m.look(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	if args := taskOf(m.start(1)[0]); !args.Undo || args.Before != nil {
		t.Errorf("what is put back when it is resumed is %s", args.Before)
	}
}
