package sim_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// Environment variables that change how long the test of schedules is.
const (
	schedulesEnv = "FAIRLEAD_SIM_SCHEDULES" // how many; the full test has 2000
	secondsEnv   = "FAIRLEAD_SIM_SECONDS"   // how long they are due; in the full test 60
)

// Three processes act upon schedules that are due every second while one of them is
// killed or paused every other second. Each instant has one run, which ended once.
func TestSchedules(t *testing.T) {
	tier.Long(t, "plays schedules for seconds, and kills processes")
	t.Parallel()
	playSchedules(t, func() sim.Disturbance { return sim.AtTheSecond(sim.KillOrPause) }, func(_ sim.Record, f sim.Figures) error {
		if f.Kills == 0 || f.Pauses == 0 {
			return fmt.Errorf("there were %d kills and %d pauses: the schedules were hardly tried", f.Kills, f.Pauses)
		}
		return nil
	})
}

// No node acts for longer than the fire grace of two leases. Missed runs are caught up
// once.
func TestMissedSchedules(t *testing.T) {
	tier.Long(t, "stops all processes for leases")
	t.Parallel()
	playSchedules(t, func() sim.Disturbance { return sim.AtTheSecond(sim.PauseAll(4 * quickNode.Lease)) }, func(_ sim.Record, f sim.Figures) error {
		if f.CaughtUp == 0 {
			return errors.New("nothing was caught up")
		}
		return nil
	})
}

// playSchedules plays the same on each database.
func playSchedules(t *testing.T, disturb func() sim.Disturbance, shown func(sim.Record, sim.Figures) error) {
	node := quickNode
	node.Slots = 50
	for _, db := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"postgres", func(t *testing.T) string { return testdb.Postgres(t) }},
		{"mariadb", func(t *testing.T) string { return testdb.MySQL(t) }},
	} {
		t.Run(db.name, func(t *testing.T) {
			const few, short = 200, 10
			schedules := sim.Schedules{Count: setting(t, schedulesEnv, few), Seconds: setting(t, secondsEnv, short)}
			playUntilShown(t, func() sim.Scenario {
				return sim.Scenario{
					URL: db.url(t), Schedules: schedules, Workers: 3, Node: node,
					Disturb: disturb(), Every: 2 * time.Second,
				}
			}, func(r sim.Record, f sim.Figures) error {
				if want := schedules.Count * schedules.Seconds; f.Fires != want {
					t.Errorf("there were %d runs, want %d", f.Fires, want)
				}
				return shown(r, f)
			})
		})
	}
}
