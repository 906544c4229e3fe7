package sim_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// sweepItemsEnv is how many items the crash test of sweeps has; the full test has
// 1000000.
const sweepItemsEnv = "FAIRLEAD_SIM_SWEEP_ITEMS"

// Three processes go over items while one of them is killed again and again. Nothing is
// left out, and no more is done again than had not been stored.
func TestSweepCrash(t *testing.T) {
	tier.Long(t, "kills processes until enough items are handled again")
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
				Items: int64(items), Shards: 3, InFlight: 12, Rate: max(1500, float64(items)/40), Workers: 3, Node: quickNode, Every: 1500 * time.Millisecond,
			}
			record := sweepUntilShown(t, s, db.url, func(r sim.SweepRecord) error {
				t.Logf("%d kills, %d items handled again, %d handled since the last checkpoints", r.Kills, r.Repeats(), r.Unsaved())
				// The full test has 20 of them.
				if few := max(2, items/50_000); r.Kills < few || r.Repeats() == 0 {
					return fmt.Errorf("there were %d kills and %d repeats", r.Kills, r.Repeats())
				}
				return nil
			})
			for _, v := range sim.CheckSweep(record) {
				t.Error(v)
			}
			// A handler that has noted its item may not have returned when the
			// checkpoint was made.
			underway := int64((record.Kills + s.Workers) * s.InFlight)
			if repeats, unsaved := record.Repeats(), record.Unsaved(); repeats > unsaved+underway {
				t.Errorf("%d items were handled again, and %d had not been stored", repeats, unsaved)
			}
		})
	}
}

// sweepUntilShown plays a scenario again, on another database, as long as it shows too
// little, which shown explains; see playUntilShown.
func sweepUntilShown(t *testing.T, s sim.SweepScenario, url func(*testing.T) string, shown func(sim.SweepRecord) error) sim.SweepRecord {
	t.Helper()
	const most = 20
	for try := 1; ; try++ {
		s.URL, s.Open, s.Dir = url(t), openPatient, newRunDir(t)
		s.Seed = tier.Seed(t, seedEnv)
		t.Logf("seed %d", s.Seed)
		record, err := sim.RunSweep(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err = shown(record); err == nil {
			return record
		}
		if try == most {
			t.Fatal(err)
		}
		t.Logf("it is played again, as it shows too little: %v", err)
	}
}
