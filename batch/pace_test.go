package batch_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

func TestACanaryWaitsForApproval(t *testing.T) {
	m := newMoving(t)
	b := m.create(6, func(b *batch.Batch) { b.Canary.Tasks = 2 })
	jobs := m.start(10)
	m.equal("how many go ahead", len(jobs), 2)
	m.look(b.ID)
	m.equal("how many are held", m.record(b.ID).Held, 4)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	b = m.look(b.ID)
	m.equal("it awaits approval", b.Awaiting, true)
	m.equal("what can be started", len(m.start(10)), 0)
	m.acted(m.batches.Retry(t.Context(), b.ID))
	b = m.batch(b.ID)
	m.equal("it awaits approval while one is retried", b.Awaiting, false)
	m.succeed(m.start(10)...)
	b = m.look(b.ID)
	m.equal("the tally", b.Tally, batch.Tally{Success: 2, Pending: 4})
	m.acted(m.batches.Approve(t.Context(), b.ID))
	m.equal("how many follow", len(m.start(10)), 4)
	_, err := m.batches.Approve(t.Context(), m.create(1).ID)
	m.conflicts("approving of a batch without a canary", err)
}

func TestACanaryIsJudgedByItsRatio(t *testing.T) {
	m := newMoving(t)
	canary := func(b *batch.Batch) { b.Canary = batch.Canary{Tasks: 4, Ratio: 0.75} }
	good := m.create(8, canary)
	jobs := m.start(10)
	m.succeed(jobs[:3]...)
	m.look(good.ID)
	m.equal("what follows before all have ended", len(m.start(10)), 0)
	m.fail(jobs[3])
	m.look(good.ID)
	m.equal("how many follow", len(m.start(10)), 4)

	bad := m.create(8, canary)
	jobs = m.start(10)
	m.succeed(jobs[:2]...)
	m.fail(jobs[2:]...)
	b := m.look(bad.ID)
	m.equal("it is paused", b.Paused, true)
	m.equal("why", b.Reason, "of the first 4 tasks 2 succeeded; 75 % have to")
	m.equal("what follows", len(m.start(10)), 0)
	m.acted(m.batches.Retry(t.Context(), bad.ID, jobs[2].ID))
	m.succeed(m.start(10)...)
	m.look(bad.ID)
	m.equal("how many follow once enough have succeeded", len(m.start(10)), 4)
}

func TestFailuresPauseABatch(t *testing.T) {
	m := newMoving(t)
	for name, threshold := range map[string]batch.Threshold{"by number": {Failures: 2}, "by share": {Percent: 20}} {
		b := m.create(10, func(b *batch.Batch) { b.StopAfter, b.MaxRunning = threshold, 3 })
		jobs := m.start(10)
		m.equal("how many run at once, "+name, len(jobs), 3)
		m.fail(jobs[0])
		b = m.look(b.ID)
		m.equal("it is paused after one, "+name, b.Paused, false)
		m.fail(jobs[1])
		b = m.look(b.ID)
		m.equal("it is paused after two, "+name, b.Paused, true)
		m.equal("why, "+name, b.Reason, "2 of 10 tasks have failed")
		m.equal("what can be started, "+name, len(m.start(10)), 0)
		m.succeed(jobs[2])
		m.acted(m.batches.Resume(t.Context(), b.ID))
		jobs = m.start(10)
		m.equal("how many follow, "+name, len(jobs), 3)
		m.fail(jobs[0])
		m.succeed(jobs[1:]...)
		b = m.look(b.ID)
		m.equal("it is paused after one more, "+name, b.Paused, false)
		m.acted(m.batches.Retry(t.Context(), b.ID))
		jobs = m.start(10)
		m.fail(jobs[:2]...)
		b = m.look(b.ID)
		m.equal("it is paused after two that were retried, "+name, b.Paused, true)
		m.acted(m.batches.Cancel(t.Context(), b.ID, ""))
		m.succeed(jobs[2:]...)
		m.look(b.ID)
	}
}

func TestABatchThatIsPausedKeepsTheReason(t *testing.T) {
	m := newMoving(t)
	b := m.create(10, func(b *batch.Batch) { b.StopAfter.Failures, b.MaxRunning = 1, 2 })
	jobs := m.start(2)
	m.acted(m.batches.Pause(t.Context(), b.ID, "lunch"))
	m.fail(jobs...)
	m.equal("why it is paused", m.look(b.ID).Reason, "lunch")
}

func TestTheFasterTasksEndTheMoreAreReleasedAhead(t *testing.T) {
	m := newMoving(t)
	b := m.create(10_000)
	first := m.record(b.ID).Out
	m.succeed(m.start(first)...)
	m.clock.Advance(30 * time.Millisecond)
	m.look(b.ID)
	fast := m.record(b.ID).Out
	if fast < 2*first {
		t.Errorf("%d are released after %d ended in 30 ms", fast, first)
	}
	for range 20 {
		m.succeed(m.start(1)...)
		m.clock.Advance(time.Second)
		m.look(b.ID)
	}
	m.succeed(m.start(10_000)...)
	m.clock.Advance(time.Minute)
	m.look(b.ID)
	m.equal("how many are released at once after few ended for long", m.record(b.ID).Out, first)
}

func TestALookTellsWhetherSoMuchWasDoneThatThereIsSoonToBeMore(t *testing.T) {
	m := newMoving(t)
	busy := func(b batch.Batch) bool {
		t.Helper()
		done, err := batch.Conduct(t.Context(), m.store, b.ID)
		m.ok(err)
		return done.Busy
	}
	many := m.create(3 * batch.ChunkSize)
	m.equal("while none ends", busy(many), false)
	jobs := m.start(2 * batch.ChunkSize)
	m.succeed(jobs[:batch.ChunkSize-1]...)
	m.equal("when a few ended", busy(many), false)
	m.succeed(m.start(3 * batch.ChunkSize)...)
	m.succeed(jobs[batch.ChunkSize-1:]...)
	m.equal("when many ended", busy(many), true)
}

func TestABatchKeepsToItsRate(t *testing.T) {
	m := newMoving(t)
	b := m.create(1000, func(b *batch.Batch) { b.Rate = 50 })
	begun, n := m.clock.Now(), 0
	for m.clock.Now().Sub(begun) < 4*time.Second {
		done, err := batch.Conduct(t.Context(), m.store, b.ID)
		m.ok(err)
		if done.Next <= 0 || done.Next > time.Second/50 {
			t.Fatalf("the next look is in %v", done.Next)
		}
		jobs := m.start(100)
		n += len(jobs)
		m.succeed(jobs...)
		m.clock.Advance(done.Next)
	}
	if n < 195 || n > 206 {
		t.Errorf("%d tasks were released in 4 seconds at 50 per second", n)
	}
	slow, none := 0.5, 0.0
	m.acted(m.batches.SetPace(t.Context(), b.ID, batch.Pace{Rate: &slow}))
	m.start(100)
	m.clock.Advance(time.Second)
	m.look(b.ID)
	m.equal("what can be started at once", len(m.start(100)), 0)
	bound := 7
	b = m.acted(m.batches.SetPace(t.Context(), b.ID, batch.Pace{Rate: &none, MaxRunning: &bound}))
	m.equal("how many are out", m.record(b.ID).Out, 7)
	wrong := -1.0
	if _, err := m.batches.SetPace(t.Context(), b.ID, batch.Pace{Rate: &wrong}); err == nil {
		t.Error("a negative rate is accepted")
	}
}

func TestEachCompletionIsToldOnce(t *testing.T) {
	m := newMoving(t)
	b := m.create(2, func(b *batch.Batch) {
		b.Then, b.Notify = []fairlead.Job{{Kind: "sweep", Args: json.RawMessage(`{"floor": 1}`)}}, "https://example.com/told"
	})
	told := func() (thens, completions []*fairlead.Job) {
		for _, kind := range []string{"sweep", batch.CompletedKind} {
			jobs, err := m.store.Find(t.Context(), fairlead.Filter{Kinds: []string{kind}})
			m.ok(err)
			thens, completions = completions, jobs
		}
		return thens, completions
	}
	jobs := m.start(2)
	m.succeed(jobs[0])
	m.fail(jobs[1])
	thens, _ := told()
	m.equal("how often it is told before", len(thens), 0)
	b = m.look(b.ID)
	for range 3 {
		m.look(b.ID)
	}
	thens, completions := told()
	m.equal("how often it is told", []int{len(thens), len(completions)}, []int{1, 1})
	m.equal("what follows", string(thens[0].Args), `{"floor": 1}`)
	m.equal("it is no task", thens[0].Batch, int64(0))
	var completion batch.Completion
	m.ok(json.Unmarshal(completions[0].Args, &completion))
	m.equal("what is told", completion, batch.Completion{
		ID: fmt.Sprintf("batch-%d-1", b.ID), URL: "https://example.com/told", Batch: b.ID, Number: 1, Name: "spring", Type: "move",
		State: batch.PartialFail, Tally: batch.Tally{Success: 1, Fail: 1}, EndedAt: b.EndedAt,
	})
	m.acted(m.batches.Retry(t.Context(), b.ID))
	m.finish(b.ID)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.finish(b.ID)
	thens, completions = told()
	m.equal("how often it is told in all", []int{len(thens), len(completions)}, []int{3, 3})
	m.ok(json.Unmarshal(completions[0].Args, &completion))
	m.equal("what is told last", completion.ID, fmt.Sprintf("batch-%d-3", b.ID))
	m.equal("how it stands last", completion.State, batch.RollbackSuccess)
}

func TestTasksAreListedByStateAndPage(t *testing.T) {
	m := newMoving(t)
	b := m.create(batch.ChunkSize*2 + 20)
	jobs := m.start(12)
	m.succeed(jobs[:3]...)
	m.fail(jobs[3:8]...)
	m.look(b.ID)
	m.acted(m.batches.Retry(t.Context(), b.ID, jobs[3].ID, jobs[4].ID))
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{Tasks: []int64{jobs[0].ID}}))
	count := func(states ...batch.TaskState) int {
		t.Helper()
		return len(m.tasks(batch.TaskFilter{Batch: b.ID, States: states, Limit: 10_000}))
	}
	for state, want := range map[batch.TaskState]int{
		batch.TaskSuccess: 2, batch.TaskFail: 3, batch.TaskRetryPending: 2, batch.TaskRollbackPending: 1,
		batch.TaskRunning: 4, batch.TaskPending: batch.ChunkSize*2 + 8, batch.TaskCancel: 0,
	} {
		m.equal("how many are "+string(state), count(state), want)
	}
	m.equal("how many are one or the other", count(batch.TaskFail, batch.TaskRunning), 7)
	var all []int64
	for filter := (batch.TaskFilter{Batch: b.ID, Limit: 333}); ; {
		page := m.tasks(filter)
		all = append(all, taskIDs(page)...)
		if len(page) < filter.Limit {
			break
		}
		filter.After = all[len(all)-1]
	}
	m.equal("the tasks of all pages", all, taskIDs(m.tasks(batch.TaskFilter{Batch: b.ID, Limit: 10_000})))
	m.equal("their number", len(all), b.Total)
	some := []int64{all[1015], all[700], all[2]}
	m.equal("those with some IDs", taskIDs(m.tasks(batch.TaskFilter{Batch: b.ID, IDs: some})), []int64{all[2], all[700], all[1015]})
	m.equal("a page of default size", len(m.tasks(batch.TaskFilter{Batch: b.ID})), 100)
	task := m.tasks(batch.TaskFilter{Batch: b.ID, IDs: []int64{jobs[5].ID}})[0]
	m.equal("a task", task.Change, boxes(6)[5])
	m.equal("its job", task.Job, jobs[5].ID)
}
