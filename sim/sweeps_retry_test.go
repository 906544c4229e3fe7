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

// Failed items are retried while nodes are killed. In the end, the list of failed items and
// their count agree, and no item is lost.
func TestSweepRetryCrash(t *testing.T) {
	tier.Long(t, "kills processes until enough items are tried again")
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
			s := sim.SweepScenario{
				Items: 9000, Shards: 3, InFlight: 12, Rate: 3000, RetryRate: 400, Workers: 3, Node: quickNode, Every: 2 * time.Second,
			}
			record := sweepUntilShown(t, s, db.url, func(r sim.SweepRecord) error {
				t.Logf("%d kills, of which %d while items were tried again", r.Kills, r.Retried.Kills)
				if r.Retried.Kills < 2 {
					return fmt.Errorf("there were %d kills while items were tried again", r.Retried.Kills)
				}
				return nil
			})
			retried := record.Retried
			// A third of nine thousand, and nine that always do, of which three are
			// among the third.
			if before := retried.Before; before.Done+before.Abandoned != s.Items || before.Abandoned != 3006 {
				t.Errorf("at first it ended with %+v", before.Progress)
			}
			for _, v := range sim.CheckSweep(record) {
				t.Error(v)
			}
		})
	}
}
