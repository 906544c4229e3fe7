package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// callersEnv is for how many seconds callers leave transactions open; the full test takes 1200.
const callersEnv = "FAIRLEAD_SIM_CALLERS"

// Handlers and other processes keep transactions open while nodes are killed. No job is
// lost, and work that does not wait for these transactions continues.
func TestOpenTransactionsOfCallersStopNoOtherWork(t *testing.T) {
	tier.Long(t, "leaves transactions open for longer than five heartbeats, and kills processes")
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			const short = 12
			playUntilShown(t, func() sim.Scenario {
				s := withCallers(setting(t, callersEnv, short), 10*time.Second)
				s.URL = db.url(t)
				return s
			}, func(_ sim.Record, f sim.Figures) error {
				if f.Lent == 0 || f.Kills == 0 {
					return fmt.Errorf("%d transactions were left open, and %d processes killed", f.Lent, f.Kills)
				}
				return nil
			})
		})
	}
}

// withCallers returns a scenario of the given duration in which transactions stay open for
// some time. Jobs become due continuously, by themselves and through schedules.
func withCallers(seconds int, hold time.Duration) sim.Scenario {
	node := quickNode
	node.Slots, node.Beat, node.Lease = 8, time.Second, 5*time.Second
	return sim.Scenario{
		Jobs: 10 * seconds, Workers: 3, Node: node,
		Schedules: sim.Schedules{Count: 5, Seconds: seconds},
		Callers:   sim.Callers{Hold: hold, Jobs: seconds / 2, Processes: 2},
		Plan: func(random *rand.Rand, _ time.Duration) sim.Plan {
			return sim.Plan{
				Work:  time.Duration(random.Int64N(int64(20 * time.Millisecond))),
				Delay: time.Millisecond + time.Duration(random.Int64N(int64(seconds)*int64(time.Second))),
			}
		},
		Disturb: sim.KillNodeOrCaller, Every: 2 * time.Second,
	}
}
