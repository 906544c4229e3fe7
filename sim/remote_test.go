package sim_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// Remote workers do the tasks of batches, and roll every other batch back, while the
// servers that they ask for work are killed. A server that dies is no failure of a task.
func TestRemoteTasksOutliveTheirServers(t *testing.T) {
	tier.Long(t, "kills servers again and again")
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			const batches, some = 2, 400
			// A worker keeps its lease while a server starts: its handlers see each error.
			node := quickNode
			node.Lease = 10 * time.Second
			s := sim.RemoteScenario{
				URL: db.url(t), Open: openPatient, Dir: newRunDir(t), Seed: tier.Seed(t, seedEnv), Logf: t.Logf,
				Servers: 2, Workers: 3, Node: node, Every: 300 * time.Millisecond,
				Batches: sim.Batches{Count: batches, Tasks: setting(t, tasksEnv, some) / batches},
			}
			record, err := sim.RunRemote(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			verdict := sim.Check(record)
			t.Logf("%d tasks, %d kills of servers", verdict.Figures.Tasks, verdict.Figures.Kills)
			if verdict.Figures.Kills == 0 {
				t.Error("no server was killed")
			}
			reportViolations(t, s.Dir, &record, verdict.Violations)
		})
	}
}
