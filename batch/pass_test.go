package batch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// interrupted is a store whose first AddParts lets others do something before.
type interrupted struct {
	driver.Store
	others func()
}

func (i *interrupted) AddParts(ctx context.Context, batch int64, parts []batch.Part) error {
	if do := i.others; do != nil {
		i.others = nil
		do()
	}
	return i.Store.AddParts(ctx, batch, parts)
}

// tried is the next try of making a pass, by a node that died before it began to.
func (m *moving) tried(id int64) int {
	m.Helper()
	m.clock.Advance(2 * time.Minute)
	done, err := batch.Conduct(m.outer.Context(), m.store, id)
	m.ok(err)
	m.equal("a pass is wanted", done.Prepare, true)
	return done.Try
}

// failed makes a batch all of whose tasks have failed.
func (m *moving) failed(tasks int) (batch.Batch, []*fairlead.Job) {
	m.Helper()
	b := m.create(tasks, func(b *batch.Batch) { b.Then = []fairlead.Job{{Kind: "told"}} })
	jobs := m.start(tasks)
	m.fail(jobs...)
	return m.look(b.ID), jobs
}

// wantRetry asks to retry tasks, and dies before the pass is made.
func (m *moving) wantRetry(id int64, tasks ...int64) {
	m.Helper()
	_, err := batch.NewClient(&dying{Store: m.store, calls: 1, after: true}).Retry(m.outer.Context(), id, tasks...)
	m.died(err)
}

// died expects that a process has died.
func (m *moving) died(err error) {
	m.Helper()
	if !errors.Is(err, errCrashed) {
		m.Fatalf("got %v, want a crash", err)
	}
}

func (m *moving) noDrift() {
	m.Helper()
	drift, err := m.store.Verify(m.outer.Context())
	m.ok(err)
	m.equal("the drift", len(drift), 0)
}

func TestOfTwoWhoMakeAPassOneDoes(t *testing.T) {
	m := newMoving(t)
	b, jobs := m.failed(3)
	m.wantRetry(b.ID, jobs[0].ID)
	slow, fast := m.tried(b.ID), m.tried(b.ID)
	store := &interrupted{Store: m.store, others: func() {
		m.ok(batch.Prepare(t.Context(), m.store, b.ID, fast))
		m.wantRetry(b.ID, jobs[1].ID) // another pass is wanted by now
	}}
	m.ok(batch.Prepare(t.Context(), store, b.ID, slow))
	m.noDrift()
	m.equal("what is retried", m.batch(b.ID).Tally.RetryPending, 1)
	m.finish(b.ID)
	m.clock.Advance(2 * time.Minute)
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 2, Fail: 1})
	m.noDrift()
}

func TestWhatACrashedTryLeftBehindIsNotInTheWay(t *testing.T) {
	m := newMoving(t)
	b, _ := m.failed(2*batch.PartSize + 1)
	m.wantRetry(b.ID)
	for range 5 {
		dead := &dying{Store: m.store, calls: 2} // its chunks are stored, and that is all
		m.died(batch.Prepare(t.Context(), dead, b.ID, m.tried(b.ID)))
	}
	// The next makes the pass, and dies before it removes what the others left behind.
	again := &dying{Store: m.store, calls: 2, after: true}
	m.died(batch.Prepare(t.Context(), again, b.ID, m.tried(b.ID)))
	m.noDrift()
	b = m.finish(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 2*batch.PartSize + 1})
	m.equal("it has ended", b.EndedAt.IsZero(), false)
}

func TestARetryThatIsStillToBeMadeIsCancelled(t *testing.T) {
	m := newMoving(t)
	b := m.create(3, func(b *batch.Batch) { b.MaxRunning = 2 })
	jobs := m.start(2)
	m.fail(jobs[0])
	m.look(b.ID)
	m.wantRetry(b.ID)
	try := m.tried(b.ID)
	store := &interrupted{Store: m.store, others: func() { m.acted(m.batches.Cancel(t.Context(), b.ID, "")) }}
	m.ok(batch.Prepare(t.Context(), store, b.ID, try))
	m.noDrift()
	m.succeed(jobs[1])
	b = m.look(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 1, Fail: 1, Cancel: 1})
	m.equal("it has ended", b.EndedAt.IsZero(), false)
}

func TestAPassIsMadeAtOnceThoughAnotherThatIsNotWantedAnyMoreWasBegun(t *testing.T) {
	m := newMoving(t)
	b := m.create(3, func(b *batch.Batch) { b.MaxRunning = 2 })
	jobs := m.start(2)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.look(b.ID)
	m.wantRetry(b.ID)
	m.acted(m.batches.Cancel(t.Context(), b.ID, ""))
	m.succeed(m.start(1)...)
	m.look(b.ID)
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("how many are rolled back", b.Tally.RollbackPending > 0, true)
}

func TestARetryThatHasNotBegunHasFailedWhenTheBatchIsRolledBack(t *testing.T) {
	m := newMoving(t)
	b := m.create(3)
	jobs := m.start(3)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.end(fairlead.Fail, fairlead.ReasonTimeout, jobs[2]) // it may have been applied
	m.look(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	b = m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", b.Tally, batch.Tally{RollbackPending: 2, Fail: 1})
	m.noDrift()
	m.equal("the tally at the end", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 2, Fail: 1})
}

func TestWhatMayHaveBeenAppliedIsUndoneThoughItsRetryFailed(t *testing.T) {
	m := newMoving(t)
	b := m.create(2)
	m.end(fairlead.Fail, fairlead.ReasonTimeout, m.start(2)...)
	m.look(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	m.fail(m.start(2)...)
	m.look(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 2})
}

func TestATaskThatWasRetriedManyTimesIsStillOne(t *testing.T) {
	m := newMoving(t)
	b := m.create(2)
	jobs := m.start(2)
	m.succeed(jobs[1])
	for range 55 { // more passes than are read at once
		m.fail(jobs[0])
		m.look(b.ID)
		m.acted(m.batches.Retry(t.Context(), b.ID))
		jobs = m.start(1)
	}
	m.succeed(jobs[0])
	m.equal("the tally", m.look(b.ID).Tally, batch.Tally{Success: 2})
	m.equal("how its tasks stand", m.stands(b.ID), []batch.TaskState{batch.TaskSuccess, batch.TaskSuccess})
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally after it was rolled back", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 2})
}

func TestARetryLeavesWhatCouldNotBeRolledBack(t *testing.T) {
	m := newMoving(t)
	b := m.create(2)
	jobs := m.start(2)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	m.look(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Tasks: []int64{jobs[0].ID}}))
	m.fail(m.start(1)...)
	m.look(b.ID)
	b = m.acted(m.batches.Retry(t.Context(), b.ID))
	m.equal("the tally", b.Tally, batch.Tally{RetryPending: 1, RollbackFail: 1})
}

func TestARollBackThatWasCancelledIsResumed(t *testing.T) {
	m := newMoving(t)
	b := m.create(1)
	m.finish(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.end(fairlead.Drop, "", m.start(1)...)
	m.equal("the tally", m.look(b.ID).Tally, batch.Tally{RollbackFail: 1})
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally once it is resumed", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 1})
}

func TestARetryThatIsPausedGoesOn(t *testing.T) {
	m := newMoving(t)
	b := m.create(1)
	m.fail(m.start(1)...)
	m.look(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	b = m.acted(m.batches.Pause(t.Context(), b.ID, ""))
	m.equal("the tally while it is paused", b.Tally, batch.Tally{RetryPending: 1})
	m.equal("what can be started", len(m.start(1)), 0)
	m.acted(m.batches.Resume(t.Context(), b.ID))
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{Success: 1})
}

func TestACanaryIsNotJudgedWhileTheBatchIsPaused(t *testing.T) {
	m := newMoving(t)
	for name, end := range map[string]func(...*fairlead.Job){"a good one": m.succeed, "a bad one": m.fail} {
		b := m.create(4, func(b *batch.Batch) { b.Canary = batch.Canary{Tasks: 2, Ratio: 0.5} })
		jobs := m.start(2)
		m.acted(m.batches.Pause(t.Context(), b.ID, "lunch"))
		end(jobs...)
		b = m.look(b.ID)
		m.equal(name+" is approved of", b.Approved, false)
		m.equal("why it is paused with "+name, b.Reason, "lunch")
		m.acted(m.batches.Cancel(t.Context(), b.ID, ""))
	}
}
