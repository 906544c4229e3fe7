package batch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/schedule"
)

// brief is a retention that is over soon, whatever the outcome.
var brief = driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}

// soughtAfter is after how long a batch looks for jobs that are missing.
const soughtAfter = time.Minute

func TestTasksThatNoNodeCountedForLongAreCountedAsTheyEnded(t *testing.T) {
	m := newMoving(t)
	b := m.create(10)
	m.succeed(m.start(10)...)
	m.clock.Advance(25 * time.Hour) // all nodes are away
	pruned, err := m.store.Prune(t.Context(), brief, 100)
	m.ok(err)
	m.equal("how many were pruned", pruned, 0)
	after := m.look(b.ID)
	m.equal("its state", after.State(), batch.Success)
	m.equal("the tally", after.Tally, batch.Tally{Success: 10})
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally after it was rolled back", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 10})
}

func TestATaskWhoseJobIsMissingIsInDoubt(t *testing.T) {
	m := newMoving(t)
	b := m.create(3)
	jobs := m.start(3)
	m.succeed(jobs[0], jobs[1])
	testdb.Lose(t, m.store, jobs[1].ID)
	m.clock.Advance(soughtAfter)
	found := m.clock.Now()
	m.equal("the tally", m.look(b.ID).Tally, batch.Tally{Success: 1, Fail: 1, Pending: 0, Running: 1})
	m.clock.Advance(time.Second)
	m.succeed(jobs[2])
	after := m.look(b.ID)
	m.equal("its state", after.State(), batch.PartialFail)
	m.equal("how many are in doubt", after.Unclear, 1)
	failed := m.tasks(batch.TaskFilter{Batch: b.ID, States: []batch.TaskState{batch.TaskFail}})
	m.equal("how many failed", len(failed), 1)
	if !strings.Contains(failed[0].Info, "whether the change was applied is unknown") {
		t.Errorf("what is said of it: %q", failed[0].Info)
	}
	m.equal("when it changed last", failed[0].UpdatedAt, found)
	m.acted(m.batches.RollBack(t.Context(), b.ID, batch.RollBack{}))
	m.equal("the tally after it was rolled back", m.finish(b.ID).Tally, batch.Tally{RollbackSuccess: 3})
}

func TestARunWhoseJobIsMissingHasFailed(t *testing.T) {
	m := newMoving(t)
	sc, err := m.schedules.Put(t.Context(), schedule.Schedule{Name: "s", Every: time.Hour, Job: fairlead.Job{Kind: moveKind}})
	m.ok(err)
	run, err := m.schedules.Trigger(t.Context(), sc.ID, nil)
	m.ok(err)
	m.succeed(m.start(1)...)
	testdb.Lose(t, m.store, run.Job)
	var ended []schedule.Fire
	_, err = m.store.Act(t.Context(), sc.ID, func(s schedule.Schedule, v schedule.View) (schedule.Plan, error) {
		ended = v.Ended
		return schedule.Plan{Cursor: s.Cursor}, nil
	})
	m.ok(err)
	m.equal("how many have ended", len(ended), 1)
	m.equal("how it ended", ended[0].State, fairlead.Failed)
}
