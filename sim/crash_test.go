package sim_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sim"
)

// Environment variables that change how long the crash tests are.
const (
	jobsEnv = "FAIRLEAD_SIM_JOBS" // how many jobs; the full test has 50000
	seedEnv = "FAIRLEAD_SIM_SEED" // repeats what was drawn by lot, though not the timing
)

// Four processes run jobs while one of them is killed or paused every second.
func TestCrash(t *testing.T) {
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			const short = 5000
			jobs := setting(t, jobsEnv, short)
			_, verdict := play(t, sim.Scenario{
				URL: db.url(t), Jobs: jobs, Workers: 4, Node: quickNode,
				Disturb: sim.KillOrPause, Every: time.Second,
			})
			f := verdict.Figures
			if f.Pauses > 2 && f.RefusedEnds+f.RefusedSaves == 0 {
				t.Errorf("%d pauses of working nodes, and not one zombie was refused", f.Pauses)
			}
		})
	}
}

// A job that kills its node again and again is found out, and those that
// merely ran beside it are not taken for it (trap 27).
func TestPoison(t *testing.T) {
	t.Parallel()
	node := quickNode
	node.MaxCrashes = 4
	drawn := 0
	_, verdict := play(t, sim.Scenario{
		URL: "sqlite://" + filepath.Join(t.TempDir(), "jobs.db"), Jobs: 500, Workers: 2, Node: node,
		Plan: func(random *rand.Rand, lease time.Duration) sim.Plan {
			drawn++
			if drawn == 10 {
				return sim.Plan{Deadly: true}
			}
			return sim.Mixed(random, lease)
		},
		Disturb: sim.Replace, Every: 50 * time.Millisecond,
	})
	if kills := verdict.Figures.Kills; kills != node.MaxCrashes+1 {
		t.Errorf("it killed %d times, not %d", kills, node.MaxCrashes+1)
	}
}

// quickNode has a short lease, so that much happens in little time.
var quickNode = sim.Node{Slots: 4, Poll: 100 * time.Millisecond, Beat: 200 * time.Millisecond, Lease: time.Second, Grace: 200 * time.Millisecond}

// patience is how much later than two leases a recovery may be before the test
// fails. Two busy cores that run four nodes, a driver and a server give no
// better promise; what was measured is logged.
const patience = 3 * time.Second

// play runs a scenario and fails the test for each broken rule.
func play(t *testing.T, s sim.Scenario) (sim.Record, sim.Verdict) {
	t.Helper()
	if s.Plan == nil {
		s.Plan = sim.Mixed
	}
	s.Open, s.Dir, s.Logf, s.Patience = open, t.ArtifactDir(), t.Logf, patience
	s.Seed = uint64(setting(t, seedEnv, int(time.Now().UnixNano()%1_000_000)))
	s.Limit = time.Minute + time.Duration(s.Jobs+s.Schedules.Count*s.Schedules.Seconds)*10*time.Millisecond
	t.Logf("seed %d", s.Seed)
	record, err := sim.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	verdict := sim.Check(record)
	t.Log(verdict.Figures)
	const enough = 10
	for i, v := range verdict.Violations {
		if i == enough {
			t.Errorf("and %d more", len(verdict.Violations)-enough)
			break
		}
		t.Errorf("%v\n%s", v, sim.Tale(record.Events, v.Job))
	}
	return record, verdict
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text, set := os.LookupEnv(name)
	if !set {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
