package batch_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

// Jobs that are made beforehand are those that would have been made, each once,
// whichever process releases tasks, and after a pause.
func TestTasksWhoseJobsAreMadeBeforehandRunOnce(t *testing.T) {
	const tasks = 12*batch.ChunkSize + 7
	m := newMoving(t)
	b := m.create(tasks)
	outlook, runs := &batch.Outlook{}, map[string]int{}
	for round := 0; m.batch(b.ID).EndedAt.IsZero(); round++ {
		if round > 200 {
			t.Fatalf("the batch does not end: %+v", m.batch(b.ID).Status)
		}
		jobs := m.start(2000)
		for _, job := range jobs {
			var args batch.TaskArgs
			m.ok(json.Unmarshal(job.Args, &args))
			m.equal("the task of a job", []any{args.Task, args.Batch, args.Undo}, []any{job.ID, b.ID, false})
			runs[args.Target.ID]++
		}
		m.succeed(jobs...)
		m.clock.Advance(20 * time.Millisecond)
		switch {
		case round%5 == 3: // another process
			_, err := batch.Conduct(t.Context(), m.open(), b.ID)
			m.ok(err)
		case round == 6:
			m.acted(m.batches.Pause(t.Context(), b.ID, ""))
			m.acted(m.batches.Resume(t.Context(), b.ID))
		}
		_, err := batch.ConductAhead(t.Context(), m.store, b.ID, &batch.Turns{}, outlook)
		m.ok(err)
	}
	m.equal("the targets", len(runs), tasks)
	for target, n := range runs {
		if n != 1 {
			t.Fatalf("%s was done %d times", target, n)
		}
	}
	ended := m.batch(b.ID)
	m.equal("how it ended", ended.State(), batch.Success)
	m.noDrift()
}

func TestTasksWhoseJobsAreNotMadeBeforehandAreReleasedBesideThem(t *testing.T) {
	const tasks = 12 * batch.ChunkSize
	m := newMoving(t)
	b := m.create(tasks)
	outlook := &batch.Outlook{}
	jobs := m.start(tasks)
	failed := jobIDs(jobs[:2])
	m.fail(jobs[:2]...)
	m.succeed(jobs[2:]...)
	m.clock.Advance(20 * time.Millisecond)
	_, err := batch.ConductAhead(t.Context(), m.store, b.ID, &batch.Turns{}, outlook)
	m.ok(err)
	m.wantRetry(b.ID, failed...)
	m.ok(batch.Prepare(t.Context(), m.store, b.ID, m.tried(b.ID)))
	m.succeed(m.start(tasks)...)
	_, err = batch.ConductAhead(t.Context(), m.store, b.ID, &batch.Turns{}, outlook)
	m.ok(err)
	retried := map[int64]batch.Change{}
	for _, job := range m.start(tasks) {
		if args := taskOf(job); args.Task != job.ID {
			retried[args.Task] = args.Change
		}
		m.succeed(job)
	}
	m.equal("what is retried", retried, map[int64]batch.Change{failed[0]: boxes(1)[0], failed[1]: boxes(2)[1]})
	m.equal("the tally", m.finish(b.ID).Tally, batch.Tally{Success: tasks})
}
