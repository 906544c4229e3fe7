package batch_test

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// becomes returns what the states of a task lead to.
var becomes = map[batch.TaskState][]batch.TaskState{
	batch.TaskPending:         {batch.TaskRunning, batch.TaskCancel},
	batch.TaskRunning:         {batch.TaskPending, batch.TaskRetryPending, batch.TaskSuccess, batch.TaskFail, batch.TaskCancel},
	batch.TaskSuccess:         {batch.TaskRollbackPending},
	batch.TaskFail:            {batch.TaskRetryPending, batch.TaskRollbackPending},
	batch.TaskRetryPending:    {batch.TaskRunning, batch.TaskFail, batch.TaskCancel}, // the last if its job is removed
	batch.TaskRollbackPending: {batch.TaskRollbackRunning},
	batch.TaskRollbackRunning: {batch.TaskRollbackPending, batch.TaskRollbackSuccess, batch.TaskRollbackFail},
	batch.TaskRollbackFail:    {batch.TaskRollbackPending},
}

// leadsTo reports whether a task may have gone from one state to another, maybe through
// others that were not seen.
func leadsTo(from, to batch.TaskState) bool {
	reached := []batch.TaskState{from}
	for i := 0; i < len(reached); i++ {
		for _, next := range becomes[reached[i]] {
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	return slices.Contains(reached, to)
}

func undoing(state batch.TaskState) bool {
	return slices.Contains([]batch.TaskState{
		batch.TaskRollbackPending, batch.TaskRollbackRunning, batch.TaskRollbackSuccess, batch.TaskRollbackFail,
	}, state)
}

// check looks whether all that has to hold does.
func (m *model) check() {
	m.Helper()
	var it batch.Record
	var chunks []batch.Chunk
	_, err := m.store.Conduct(m.outer.Context(), m.id, true, func(ctx context.Context, b *batch.Record, tx batch.Tx) (err error) {
		it = *b
		chunks, err = tx.Chunks(ctx, batch.ChunkFilter{Tasks: true})
		return err
	})
	m.ok(err)
	m.checkCounts(it, chunks)
	m.checkJobs(it, chunks)
	m.checkTasks()
}

func (m *model) checkCounts(b batch.Record, chunks []batch.Chunk) {
	m.Helper()
	m.equal("the number of tasks", b.Tally.Total(), m.total)
	m.equal("the tally", b.Tally, b.Recount(chunks))
	if b.Out > m.bound {
		m.Fatalf("%d tasks are out, and %d may be", b.Out, m.bound)
	}
	if !b.EndedAt.IsZero() && (b.Tally.Open() > 0 || len(b.Wanted) > 0 || b.Out > 0) {
		m.Fatalf("it has ended with %+v", b.Status)
	}
	told, err := m.store.Find(m.outer.Context(), fairlead.Filter{Kinds: []string{"told"}, Queues: []string{m.queue}})
	m.ok(err)
	m.equal("how often its completion was told", len(told), b.Completions)
	m.equal("what differs", len(b.Mend(chunks)), 0)
}

// checkJobs expects of each task one job at most that is live: that of the last pass
// in which it takes part.
func (m *model) checkJobs(b batch.Record, chunks []batch.Chunk) {
	m.Helper()
	places, out := map[int64]int{}, map[int64]batch.PassKind{}
	for i := range chunks {
		p := &chunks[i]
		begun := slices.ContainsFunc(b.Passes, func(pass batch.Pass) bool { return pass.Number == p.Pass })
		if p.Kind == batch.PassThen || !begun {
			continue
		}
		for k, mark := range p.States {
			if mark != batch.MarkPassed {
				places[p.TaskID(k)]++
			}
			if mark == batch.MarkOut {
				out[p.First+int64(k)] = p.Kind
			}
		}
	}
	m.equal("the number of places", len(places), m.total)
	for task, n := range places {
		if n != 1 {
			m.Fatalf("task %d is in %d places", task, n)
		}
	}
	live := map[int64]int64{}
	for _, job := range m.jobs() {
		task := taskOf(job)
		if job.State.Final() {
			continue
		}
		if other := live[task.Task]; other != 0 {
			m.Fatalf("task %d has the jobs %d and %d at once", task.Task, other, job.ID)
		}
		live[task.Task] = job.ID
		kind, is := out[job.ID]
		if !is {
			m.Fatalf("job %d of task %d is %s, and not released", job.ID, task.Task, job.State)
		}
		m.equal("whether a job undoes", task.Undo, kind == batch.PassUndo)
	}
}

// checkTasks expects that each task came to its state by a way that there is.
func (m *model) checkTasks() {
	m.Helper()
	tasks := m.tasks(batch.TaskFilter{Batch: m.id})
	m.equal("the number of listed tasks", len(tasks), m.total)
	stands := make([]batch.TaskState, len(tasks))
	for i, task := range tasks {
		stands[i] = task.State
		if task.State == batch.TaskCancel && m.touched[task.ID] && !m.meddled[task.ID] {
			m.Fatalf("task %d had begun and counts as cancelled", task.ID)
		}
		m.undone[task.ID] = m.undone[task.ID] || undoing(task.State)
		halted := m.stood != nil && m.stood[i] == batch.TaskCancel && m.touched[task.ID] // it may have been applied
		if m.stood != nil && !leadsTo(m.stood[i], task.State) && !(halted && undoing(task.State)) {
			m.Fatalf("task %d was %s and is %s", task.ID, m.stood[i], task.State)
		}
	}
	m.stood = stands
}

// complete lets the batch come to its end, by nothing but what nodes do, and a user
// who resumes it and approves of it.
func (m *model) complete() {
	m.Helper()
	m.succeed(m.running...)
	m.running = nil
	for range 200 {
		m.pass(time.Minute)
		b := m.look(m.id)
		m.check()
		if !b.EndedAt.IsZero() {
			m.ended(b)
			return
		}
		if b.Paused {
			m.acted(m.batches.Resume(m.outer.Context(), m.id))
		}
		if b = m.batch(m.id); b.Paused || b.Awaiting { // a canary that is not good enough
			m.acted(m.batches.Approve(m.outer.Context(), m.id))
		}
		jobs := m.start(100)
		m.begun(jobs)
		m.running = nil
		m.succeed(jobs...)
	}
	b := m.batch(m.id)
	m.Fatalf("it does not end: %+v", b.Status)
}

// ended expects that nothing is left of a batch that has completed.
func (m *model) ended(b batch.Batch) {
	m.Helper()
	for _, job := range m.jobs() {
		if !job.State.Final() {
			m.Fatalf("job %d is %s, and its batch has ended", job.ID, job.State)
		}
	}
	if !b.Undoing {
		return
	}
	for _, task := range m.tasks(batch.TaskFilter{Batch: m.id}) {
		if m.applied[task.ID] && !m.meddled[task.ID] && !undoing(task.State) {
			m.Fatalf("task %d may have been applied, the batch was rolled back, and it is %s", task.ID, task.State)
		}
	}
}
