package fairlead_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sqlite"
)

// brief is a retention that is over soon, whatever the outcome.
var brief = fairlead.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}

// soughtAfter is after how long a batch looks for jobs that are missing.
const soughtAfter = time.Minute

// lose removes a job as no verb of a store does: as a careless operator would, or as
// a damaged table has it.
func lose(t *testing.T, store fairlead.Store, job int64) {
	t.Helper()
	db := store.(*sqlite.Store).DB()
	for _, table := range []string{"later", "ready", "running", "waiting", "done", "job"} {
		if _, err := db.ExecContext(t.Context(), "delete from fairlead_"+table+" where id = ?", job); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTasksThatNoNodeCountedForLongAreCountedAsTheyEnded(t *testing.T) {
	m := newMoving(t)
	b := m.create(10)
	m.succeed(m.start(10)...)
	m.clock.Advance(25 * time.Hour) // all nodes are away
	pruned, err := m.store.Prune(t.Context(), brief, 100)
	m.ok(err)
	m.equal("how many were pruned", pruned, 0)
	after := m.look(b.ID)
	m.equal("its state", after.State(), fairlead.BatchSuccess)
	m.equal("the tally", after.Tally, fairlead.Tally{Success: 10})
	m.acted(m.client.RollBackBatch(t.Context(), b.ID, fairlead.RollBack{}))
	m.equal("the tally after it was rolled back", m.finish(b.ID).Tally, fairlead.Tally{RollbackSuccess: 10})
}

func TestATaskWhoseJobIsMissingIsInDoubt(t *testing.T) {
	m := newMoving(t)
	b := m.create(3)
	jobs := m.start(3)
	m.succeed(jobs[0], jobs[1])
	lose(t, m.store, jobs[1].ID)
	m.clock.Advance(soughtAfter)
	m.equal("the tally", m.look(b.ID).Tally, fairlead.Tally{Success: 1, Fail: 1, Pending: 0, Running: 1})
	m.succeed(jobs[2])
	after := m.look(b.ID)
	m.equal("its state", after.State(), fairlead.BatchPartialFail)
	m.equal("how many are in doubt", after.Doubtful, 1)
	failed := m.tasks(fairlead.TaskFilter{Batch: b.ID, States: []fairlead.TaskState{fairlead.TaskFail}})
	m.equal("how many failed", len(failed), 1)
	if !strings.Contains(failed[0].Info, "not known whether it was applied") {
		t.Errorf("what is said of it: %q", failed[0].Info)
	}
	m.acted(m.client.RollBackBatch(t.Context(), b.ID, fairlead.RollBack{}))
	m.equal("the tally after it was rolled back", m.finish(b.ID).Tally, fairlead.Tally{RollbackSuccess: 3})
}

func TestAShardWhoseJobIsMissingIsGoneOverByAnother(t *testing.T) {
	s := newScrubbing(t)
	sweep := s.start(s.put(inShards(2)))
	runs := s.claim(2)
	s.checkpoint(runs[0], 300, 0, false)
	lose(t, s.store, runs[0].ID)
	s.wantState(s.look(sweep), fairlead.SweepRunning)
	next := s.claim(2)
	if len(next) != 1 || next[0].Shard != runs[0].Shard || next[0].ID == runs[0].ID {
		t.Fatalf("what was claimed then: %v", next)
	}
	shards, err := s.store.Shards(t.Context(), sweep.ID)
	s.ok(err)
	if shards[next[0].Shard].Mark != 300 {
		t.Errorf("the shard goes on at %d, want 300", shards[next[0].Shard].Mark)
	}
	events, err := s.store.SweepEvents(t.Context(), fairlead.EventFilter{Sweep: sweep.ID, Limit: 1})
	s.ok(err)
	if !strings.Contains(events[0].Note, fmt.Sprint("job ", runs[0].ID)) {
		t.Errorf("the history says %q", events[0].Note)
	}
	s.checkpoint(next[0], 500, 0, true)
	s.checkpoint(runs[1], 500, 0, true)
	s.end(next[0], runs[1])
	s.wantState(s.look(sweep), fairlead.SweepFinished)
}

func TestARunWhoseJobIsMissingHasFailed(t *testing.T) {
	m := newMoving(t)
	schedule, err := m.client.PutSchedule(t.Context(), fairlead.Schedule{Name: "s", Every: time.Hour, Job: fairlead.Job{Kind: moveKind}})
	m.ok(err)
	run, err := m.client.Trigger(t.Context(), schedule.ID, nil)
	m.ok(err)
	m.succeed(m.start(1)...)
	lose(t, m.store, run.Job)
	var ended []fairlead.Fire
	_, err = m.store.Act(t.Context(), schedule.ID, func(s fairlead.Schedule, v fairlead.View) (fairlead.Plan, error) {
		ended = v.Ended
		return fairlead.Plan{Cursor: s.Cursor}, nil
	})
	m.ok(err)
	m.equal("how many have ended", len(ended), 1)
	m.equal("how it ended", ended[0].State, fairlead.Failed)
}
