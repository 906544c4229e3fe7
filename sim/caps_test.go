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

// Four processes run jobs of twenty tenants with caps of one to twenty under a
// global cap; two of them are killed. No cap is exceeded at any moment, and
// nothing is lost.
func TestCaps(t *testing.T) {
	tier.Long(t, "needs many jobs that run at once, in processes that are killed")
	t.Parallel()
	caps := sim.Caps{Global: 100, Tenants: map[string]int{}}
	for i := range 20 {
		caps.Tenants[fmt.Sprintf("tenant %02d", i+1)] = i + 1
	}
	for name, most := range playCapped(t, caps, caps.Global*3/4) {
		if most < caps.Global/2 {
			t.Errorf("%s: at most %d jobs ran at once: the caps were hardly tried", name, most)
		}
	}
}

// The same behind gates: each tenant's jobs share a key, which admits two.
func TestGates(t *testing.T) {
	tier.Long(t, "needs many jobs that run at once, in processes that are killed")
	t.Parallel()
	caps := sim.Caps{PerKey: 2, Tenants: map[string]int{}}
	for i := range 40 {
		caps.Tenants[fmt.Sprintf("tenant %02d", i+1)] = 0
	}
	for name, most := range playCapped(t, caps, len(caps.Tenants)*caps.PerKey*3/4) {
		if most < len(caps.Tenants) {
			t.Errorf("%s: at most %d jobs ran at once: the gates were hardly tried", name, most)
		}
	}
}

// playCapped returns how many jobs ran at once, at most, per database. The first ones wait
// for each other until they are a crowd.
func playCapped(t *testing.T, caps sim.Caps, crowd int) map[string]int {
	node, most := quickNode, map[string]int{}
	node.Slots = 50
	for name, url := range map[string]func(testing.TB) string{
		"postgres": func(t testing.TB) string { return testdb.Postgres(t) },
		"mariadb":  func(t testing.TB) string { return testdb.MySQL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			const short = 4000
			_, verdict := play(t, sim.Scenario{
				URL: url(t), Jobs: setting(t, jobsEnv, short), Workers: 4, Node: node, Caps: caps, Crowd: crowd,
				Plan: func(random *rand.Rand, _ time.Duration) sim.Plan {
					return sim.Plan{Work: 5*time.Millisecond + time.Duration(random.Int64N(int64(45*time.Millisecond)))}
				},
				Disturb: sim.KillTwo, Every: 1500 * time.Millisecond,
			})
			most[name] = verdict.Figures.MostRunning
		})
	}
	return most
}
