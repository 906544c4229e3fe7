package mysql

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// putSchedule stores a schedule that is never due by itself.
func putSchedule(t *testing.T, s *Store, name string) schedule.Schedule {
	t.Helper()
	schedule, err := s.PutSchedule(t.Context(), schedule.Schedule{
		Name: name, Job: fairlead.Job{Kind: "a", Queue: fairlead.DefaultQueue, Tenant: fairlead.DefaultTenant},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}

// makeRunsOf makes runs of a schedule by hand.
func makeRunsOf(t *testing.T, s *Store, sc schedule.Schedule, n int) []schedule.Fire {
	t.Helper()
	made, err := s.Act(t.Context(), sc.ID, func(_ schedule.Schedule, view schedule.View) (plan schedule.Plan, err error) {
		for range n {
			plan.Fires = append(plan.Fires, schedule.PlannedFire{Due: view.Now, Trigger: schedule.TriggerManual, Number: 1})
		}
		return plan, nil
	})
	if err != nil || len(made) != n {
		t.Fatalf("%d runs were made instead of %d: %v", len(made), n, err)
	}
	return made
}

// activeRuns are the jobs of the active runs of a schedule.
func activeRuns(t *testing.T, s *Store, sc schedule.Schedule) (active []int64) {
	t.Helper()
	_, err := s.Act(t.Context(), sc.ID, func(_ schedule.Schedule, view schedule.View) (schedule.Plan, error) {
		for _, run := range view.Active {
			active = append(active, run.Job)
		}
		return schedule.Plan{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return active
}

// idle plans nothing.
func idle(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{} }

// TestManyOpenRuns checks that a tick looks through some of very many open runs,
// and that the next ones go on from there.
func TestManyOpenRuns(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	crowd, other := putSchedule(t, s, "crowd"), putSchedule(t, s, "other")
	makeRunsOf(t, s, crowd, openWindow+10)
	last := makeRunsOf(t, s, other, 1)[0]
	if err := s.Cancel(t.Context(), last.Job, ""); err != nil {
		t.Fatal(err)
	}
	var seen []int
	for range 4 {
		ticked, err := s.Tick(t.Context(), 10, idle)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, ticked.Schedules)
	}
	if want := []int{0, 1, 0, 0}; !slices.Equal(seen, want) {
		t.Fatalf("ticks acted upon %v schedules, want %v", seen, want)
	}
}

// TestReopenedWhileTicking checks that a run which is reopened while its schedule
// is looked at is active afterwards, whichever of the two comes first.
func TestReopenedWhileTicking(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	schedule := putSchedule(t, s, "s")
	for range tier.Size(t, 5, 30, "tries the race more often") {
		run := makeRunsOf(t, s, schedule, 1)[0]
		if err := s.Cancel(t.Context(), run.Job, ""); err != nil {
			t.Fatal(err)
		}
		var reopened, ticked error
		var both sync.WaitGroup
		both.Go(func() { reopened = s.Reopen(context.Background(), run.Job) })
		both.Go(func() { _, ticked = s.Tick(context.Background(), 10, idle) })
		both.Wait()
		if reopened != nil || ticked != nil {
			t.Fatal(reopened, ticked)
		}
		if active := activeRuns(t, s, schedule); !slices.Equal(active, []int64{run.Job}) {
			t.Fatalf("the active runs are %v, want job %d", active, run.Job)
		}
		if err := s.Cancel(t.Context(), run.Job, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPruneSchedules checks that a deleted schedule goes once it was deleted long
// ago and has no runs any more, and that all of it goes.
func TestPruneSchedules(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	schedule := putSchedule(t, s, "s")
	run := makeRunsOf(t, s, schedule, 1)[0]
	if err := s.DeleteSchedule(t.Context(), schedule.ID); err != nil {
		t.Fatal(err)
	}
	rowsLeft := func() (left []int) {
		t.Helper()
		if _, err := s.Prune(t.Context(), driver.Retention{}, 100); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"schedule", "fire", "open_fire"} {
			var n int
			if err := s.db.QueryRowContext(t.Context(), "select count(*) from "+s.expand(table)).Scan(&n); err != nil {
				t.Fatal(err)
			}
			left = append(left, n)
		}
		return left
	}
	want := func(when string, want ...int) {
		t.Helper()
		if left := rowsLeft(); !slices.Equal(left, want) {
			t.Errorf("%s, %v rows of schedules, runs and open runs are left, want %v", when, left, want)
		}
	}
	want("after it was deleted", 1, 1, 0)
	age := "update " + s.expand("schedule") + " set deleted_at = deleted_at - ?"
	if _, err := s.db.ExecContext(t.Context(), age, (25 * time.Hour).Microseconds()); err != nil {
		t.Fatal(err)
	}
	want("a day later, with a run", 1, 1, 0)
	if err := s.Delete(t.Context(), run.Job); err != nil {
		t.Fatal(err)
	}
	want("without one", 0, 0, 0)
}

// TestLostSettlementOfReplacedRun checks that a node which comes too late learns
// it, however it settles, and that nothing of the job is left behind.
func TestLostSettlementOfReplacedRun(t *testing.T) {
	s, node := openWithNode(t, Migrated.MySQL(t))
	sc := putSchedule(t, s, "s")
	made := makeRunsOf(t, s, sc, plainGroup+2)
	jobs := claimOf(t, s, node, len(made))
	if len(jobs) != len(made) {
		t.Fatalf("%d jobs were claimed instead of %d", len(jobs), len(made))
	}
	settlements := make([]fairlead.Settlement, len(jobs))
	_, err := s.Act(t.Context(), sc.ID, func(schedule.Schedule, schedule.View) (plan schedule.Plan, err error) {
		for i, job := range jobs {
			plan.Cancel = append(plan.Cancel, job.ID)
			settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
		}
		return plan, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	settlements[0].Move, settlements[0].Reason = fairlead.Drop, fairlead.ReasonReplaced
	answers, err := s.Settle(t.Context(), settlements)
	if err != nil {
		t.Fatal(err)
	}
	for i, answer := range answers {
		if answer != fairlead.SettledLost {
			t.Errorf("settlement %d is answered with %v", i, answer)
		}
	}
	held, err := s.Held(t.Context(), node)
	if err != nil || len(held) != 0 {
		t.Errorf("the node holds %v: %v", held, err)
	}
}
