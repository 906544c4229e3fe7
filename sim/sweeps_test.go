package sim_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sim"
)

// sweepItemsEnv is how many items the crash test of sweeps has; the full test has
// 1000000.
const sweepItemsEnv = "FAIRLEAD_SIM_SWEEP_ITEMS"

// Three processes go over items while one of them is killed again and again. Nothing is
// left out, and no more is done again than had not been stored.
func TestSweepCrash(t *testing.T) {
	t.Parallel()
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") }},
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			const short = 12_000
			items := setting(t, sweepItemsEnv, short)
			s := sim.SweepScenario{
				URL: db.url(t), Open: open, Dir: t.ArtifactDir(), Seed: uint64(setting(t, seedEnv, int(time.Now().UnixNano()%1_000_000))),
				Items: int64(items), Shards: 3, InFlight: 12, Rate: max(1500, float64(items)/40), Workers: 3, Node: quickNode,
				Every: 1500 * time.Millisecond, Limit: 2*time.Minute + time.Duration(items)*200*time.Microsecond,
			}
			record, err := sim.RunSweep(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("seed %d: %d kills, %d items handled again, %d handled since the last checkpoints", s.Seed, record.Kills, record.Repeats, record.Unsaved)
			if len(record.Backwards) > 0 {
				t.Errorf("marks moved backwards: %v", record.Backwards)
			}
			if record.Missing > 0 {
				t.Errorf("%d items were never handled", record.Missing)
			}
			if got := record.Sweep; got.Done+got.Abandoned != s.Items || got.Abandoned != (s.Items+992)/1000 || got.Marked != s.Items {
				t.Errorf("it ended with %+v", got.SweepProgress)
			}
			// A handler that has noted its item may not have returned when the
			// checkpoint was made.
			underway := int64((record.Kills + s.Workers) * s.InFlight)
			if record.Repeats > record.Unsaved+underway {
				t.Errorf("%d items were handled again, and %d had not been stored", record.Repeats, record.Unsaved)
			}
			// The full test has 20 of them.
			if few := max(2, items/50_000); record.Kills < few || record.Repeats == 0 {
				t.Errorf("there were %d kills and %d repeats, which show nothing", record.Kills, record.Repeats)
			}
		})
	}
}
