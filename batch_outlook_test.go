package fairlead_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Jobs that are made beforehand are those that would have been made, each once,
// whoever else lets tasks out, and after a pause.
func TestTasksWhoseJobsAreMadeBeforehandRunOnce(t *testing.T) {
	const tasks = 12*fairlead.PartSize + 7
	m := newMoving(t)
	b := m.create(tasks)
	outlook, runs := &fairlead.Outlook{}, map[string]int{}
	for round := 0; m.batch(b.ID).EndedAt.IsZero(); round++ {
		if round > 200 {
			t.Fatalf("the batch does not end: %+v", m.batch(b.ID).BatchStatus)
		}
		jobs := m.start(2000)
		for _, job := range jobs {
			var args fairlead.TaskArgs
			m.ok(json.Unmarshal(job.Args, &args))
			m.equal("the task of a job", []any{args.Task, args.Batch, args.Undo}, []any{job.ID, b.ID, false})
			runs[args.Target.ID]++
		}
		m.succeed(jobs...)
		m.clock.Advance(20 * time.Millisecond)
		switch {
		case round%5 == 3: // another process
			_, err := fairlead.ConductBatch(t.Context(), m.open(), b.ID)
			m.ok(err)
		case round == 6:
			m.acted(m.client.PauseBatch(t.Context(), b.ID, ""))
			m.acted(m.client.ResumeBatch(t.Context(), b.ID))
		}
		_, err := fairlead.ConductAhead(t.Context(), m.store, b.ID, outlook)
		m.ok(err)
	}
	m.equal("the targets", len(runs), tasks)
	for target, n := range runs {
		if n != 1 {
			t.Fatalf("%s was done %d times", target, n)
		}
	}
	ended := m.batch(b.ID)
	m.equal("how it ended", ended.State(), fairlead.BatchSuccess)
	m.noDrift()
}
