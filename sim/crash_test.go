package sim_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// Environment variables that change how long the crash tests are.
const (
	jobsEnv = "FAIRLEAD_SIM_JOBS" // how many jobs; the full test has 50000
	seedEnv = "FAIRLEAD_SIM_SEED" // repeats what was drawn by lot, though not the timing
)

// Four processes run jobs, tasks of batches, the runs of schedules and a sweep while one
// of them is killed or paused every second. In the first tier few do little, and only
// what the order of events shows is judged.
func TestCrash(t *testing.T) {
	const few, many = 150, 5000
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			jobs := tier.Size(t, few, many, "kills processes for long, and judges how long things take")
			playCrash(t, setting(t, jobsEnv, jobs), db.url)
		})
	}
}

func TestCrashThroughPgBouncer(t *testing.T) {
	tier.Long(t, "repeats TestCrash through a pooler")
	const some = 1000
	playCrash(t, setting(t, jobsEnv, some), func(t *testing.T) string { return testdb.PgBouncer(t, testdb.Postgres(t)) })
}

func playCrash(t *testing.T, jobs int, url func(t *testing.T) string) {
	t.Helper()
	playUntilShown(t, func() sim.Scenario {
		s := everything(jobs)
		s.URL, s.Workers, s.Disturb, s.Every = url(t), 4, sim.KillOrPause, time.Second
		return s
	}, func(_ sim.Record, f sim.Figures) error {
		if f.Pauses > 2 && f.RefusedEnds+f.RefusedSaves == 0 {
			return fmt.Errorf("%d pauses of working nodes, and not one zombie was refused", f.Pauses)
		}
		return nil
	})
}

// everything returns a scenario with the given number of jobs, and a proportional amount of
// everything else.
func everything(jobs int) sim.Scenario {
	return sim.Scenario{
		Jobs: jobs, Node: quickNode,
		Schedules: sim.Schedules{Count: 10, Seconds: max(5, jobs/1000)},
		Batches:   sim.Batches{Count: 4, Tasks: max(20, jobs/50)},
		Sweep:     sim.Swept{Items: int64(jobs), Shards: 3, InFlight: 12, Rate: max(500, float64(jobs)/10)},
	}
}

// A job that kills its node again and again is found out, and those that
// merely ran beside it are not taken for it (trap 27).
func TestPoison(t *testing.T) {
	tier.Long(t, "waits for the leases of killed processes to end")
	t.Parallel()
	node := quickNode
	node.MaxCrashes = 4
	drawn := 0
	record, verdict := play(t, sim.Scenario{
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
	// Each run kills, unless a starved node loses the job before it starts.
	runs := 0
	for _, e := range record.Events {
		if e.What == sim.Claimed && record.Expected[e.Job].Reason == fairlead.ReasonPoison {
			runs++
		}
	}
	if kills, want := verdict.Figures.Kills, node.MaxCrashes; kills > want || runs < want {
		t.Errorf("it killed %d times in %d runs; wanted %d", kills, runs, want)
	}
}

// quickNodeLease is the lease of quickNode.
const quickNodeLease = time.Second

// quickNode has a short lease, so that much happens in little time.
var quickNode = sim.Node{Slots: 4, Poll: 100 * time.Millisecond, Beat: 200 * time.Millisecond, Lease: quickNodeLease, Grace: 200 * time.Millisecond}

// patience limits how much later than two leases, counted in beats, a recovery may be
// before the test fails. The test logs the measured value.
const patience = 3 * time.Second

// play runs a scenario and fails the test for each broken rule.
func play(t *testing.T, s sim.Scenario) (sim.Record, sim.Verdict) {
	t.Helper()
	if s.Plan == nil {
		s.Plan = sim.Mixed
	}
	s.Open, s.Dir, s.Logf, s.Patience = openPatient, newRunDir(t), t.Logf, patience
	s.Seed = tier.Seed(t, seedEnv)
	record, err := sim.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	verdict := sim.Check(record)
	t.Log(verdict.Figures)
	violations := verdict.Violations
	if testing.Short() { // the first tier does not depend on the speed of the machine
		violations = verdict.Of(sim.ByOrder)
	}
	reportViolations(t, s.Dir, &record, violations)
	return record, verdict
}

// reportViolations fails the test for each broken rule, with the last events of the job,
// and names the file that has the whole history.
func reportViolations(t *testing.T, dir string, record *sim.Record, violations []sim.Violation) {
	t.Helper()
	if len(violations) == 0 {
		return
	}
	file, err := keepRecord(dir, record)
	if err != nil {
		t.Errorf("store the history: %v", err)
	}
	const enough = 10
	for i, v := range violations {
		if i == enough {
			t.Errorf("and %d more", len(violations)-enough)
			break
		}
		t.Errorf("%v\n%s", v, sim.Tale(record.Events, v.Job))
	}
	t.Errorf("the whole history is in %s", file)
}

// keepRecord stores the history of a run where it outlives the test: in the directory of
// its artifacts if go test keeps them, else in that for temporary files.
func keepRecord(dir string, record *sim.Record) (string, error) {
	name := "history-*" + recordSuffix
	if kept := flag.Lookup("test.artifacts"); kept == nil || kept.Value.String() != "true" {
		dir = os.TempDir()
		name = "fairlead-" + name
	}
	file, err := os.CreateTemp(dir, name)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return "", err
	}
	return file.Name(), writeRecord(file.Name(), record)
}

// playUntilShown repeats a scenario, on another database, while it shows too little,
// according to shown. This happens on a busy machine: a paused node may resume before
// another one noticed. If all attempts show too little, the test fails. The first tier
// plays the scenario once and does not call shown.
func playUntilShown(t *testing.T, next func() sim.Scenario, shown func(sim.Record, sim.Figures) error) {
	t.Helper()
	const most = 20
	for try := 1; !t.Failed(); try++ {
		record, verdict := play(t, next())
		if testing.Short() {
			return
		}
		err := shown(record, verdict.Figures)
		switch {
		case err == nil:
			return
		case try == most:
			t.Error(err)
		default:
			t.Logf("it is played again, as it shows too little: %v", err)
		}
	}
}

// newRunDir makes a directory for the histories and logs of one run.
func newRunDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.ArtifactDir(), "run-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
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
