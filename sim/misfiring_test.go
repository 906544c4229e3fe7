package sim_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sim"
)

// Bugs of a store that has to make the runs of schedules.
const (
	twice     = "twice"     // makes a second run of an instant, once per schedule
	never     = "never"     // goes past an instant without a run, once per schedule
	lingering = "lingering" // does not go past an instant that it made a run of, each first time
)

// A run too many and one too few are found. A cursor that does not move is not
// enough to make one too many: that an instant has one run does not hang on it.
func TestHarnessFindsWrongRuns(t *testing.T) {
	tier.Long(t, "plays schedules for seconds, three times")
	t.Parallel()
	for bug, found := range map[string]bool{twice: true, never: true, lingering: false} {
		t.Run(bug, func(t *testing.T) {
			record, err := sim.Run(t.Context(), sim.Scenario{
				URL: bug + "+sqlite://" + filepath.Join(t.TempDir(), "jobs.db"), Open: openPatient, Dir: newRunDir(t), Seed: 1, Workers: 2,
				Schedules: sim.Schedules{Count: 20, Seconds: 3},
				Node:      quickNode, Plan: sim.Mixed, Disturb: sim.Replace, Every: time.Second, Logf: t.Logf,
			})
			if err != nil {
				t.Fatal(err)
			}
			verdict := sim.Check(record)
			if slices.ContainsFunc(verdict.Violations, func(v sim.Violation) bool { return v.Rule == sim.OneRunEach }) != found {
				t.Errorf("want found %v; the violations are %v\n%v", found, verdict.Violations, verdict.Figures)
			}
		})
	}
}

// misfiringStore changes the plan for a schedule when the first run is due. Each process
// does this once.
type misfiringStore struct {
	driver.Store
	bug  string
	done map[int64]bool // by schedule; only one goroutine ticks
}

// Tick has the bug.
func (s *misfiringStore) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	if s.done == nil {
		s.done = map[int64]bool{}
	}
	var changed []int64
	ticked, err := s.Store.Tick(ctx, limit, func(sc schedule.Schedule, view schedule.View) schedule.Plan {
		plan := decide(sc, view)
		if len(plan.Fires) == 0 || s.done[sc.ID] {
			return plan
		}
		changed = append(changed, sc.ID)
		switch s.bug {
		case twice:
			again := plan.Fires[0]
			again.Trigger = schedule.TriggerBackfill // else the store would know it
			plan.Fires = append(plan.Fires, again)
		case never:
			plan.Fires = plan.Fires[1:]
		case lingering:
			plan.Cursor = sc.Cursor
		}
		return plan
	})
	if err == nil {
		for _, id := range changed {
			s.done[id] = true
		}
	}
	return ticked, err
}
