package scale

import (
	"fmt"
	"math/rand/v2"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Spec configures a simulated cluster. Zero fields have their defaults.
type Spec struct {
	Nodes   int
	Tenants int // each has one lane
	Busy    int // tenants with an unlimited number of ready jobs; default 1 % of the tenants, but at least 50

	Claims    float64 // claims per second and node; default 1
	Max       int     // maximum number of jobs per claim; default 10
	ClaimTime float64 // duration of a claim in seconds; default 0.005
	Seconds   int     // simulated seconds; default 10
	Seed      uint64
}

func (s Spec) withDefaults() Spec {
	s.Nodes, s.Tenants = max(1, s.Nodes), max(1, s.Tenants)
	if s.Busy == 0 {
		s.Busy = max(s.Tenants/100, 50)
	}
	s.Busy = min(s.Busy, s.Tenants)
	if s.Claims == 0 {
		s.Claims = 1
	}
	if s.Max == 0 {
		s.Max = 10
	}
	if s.ClaimTime == 0 {
		s.ClaimTime = 0.005
	}
	if s.Seconds == 0 {
		s.Seconds = 10
	}
	return s
}

// overlapping returns the number of claims in progress at once.
func (s Spec) overlapping() int {
	return max(1, int(float64(s.Nodes)*s.Claims*s.ClaimTime+0.5))
}

// world is the database.
type world struct {
	spec   Spec
	config *sqlstore.LimitConfig
	lanes  []lane
	heads  []laneHead // what nodes remember of empty lanes, which is the same for all nodes
	fair   fairStarts
}

// lane contains the jobs of one tenant. Claims always take the first ones.
type lane struct {
	sqlstore.LaneKey
	id     int32
	weight int
	busy   bool
	taken  int
}

// laneHead has the size of the data that a store remembers of a lane, because a claim
// iterates over all lanes.
type laneHead struct {
	version        uint64
	known, touched bool
	view           laneView
	readAt         [3]uint64
}

// laneView has the same size as the view of a store.
type laneView struct {
	keys   []dispatch.Key
	unread []struct{}
}

func newWorld(spec Spec, random *rand.Rand) *world {
	w := &world{spec: spec, lanes: make([]lane, spec.Tenants), heads: make([]laneHead, spec.Tenants), fair: newFairStarts()}
	weights := make(map[string]int, spec.Tenants)
	for i := range w.lanes {
		name := fmt.Sprintf("tenant-%d", i)
		weights[name] = 1 << random.IntN(3)
		w.lanes[i] = lane{LaneKey: sqlstore.LaneKey{Queue: "default", Kind: "noop", Tenant: name}, id: int32(i), weight: weights[name]}
		w.heads[i].known = true
	}
	for _, i := range random.Perm(spec.Tenants)[:spec.Busy] {
		w.lanes[i].busy = true
		w.heads[i].view.keys = make([]dispatch.Key, 1)
	}
	fair := &sqlstore.StoredLimit{Limit: fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}}
	w.config = sqlstore.NewLimitConfig(1, nil, nil, []*sqlstore.StoredLimit{fair}).Weighed(weights)
	return w
}

// key returns the key of the n-th job of a lane. Tenants store jobs in turn.
func (w *world) key(l *lane, n int) dispatch.Key {
	at := int64(n)*int64(len(w.lanes)) + int64(l.id)
	return dispatch.Key{StartBy: at, ID: at + 1}
}

// place returns the place of a key in its lane. It reverses key.
func (w *world) place(key dispatch.Key) int { return int((key.ID - 1) / int64(len(w.lanes))) }

// party returns a tenant of the only scope, as named in the past starts.
func (w *world) party(scope, tenant string) dispatch.Party {
	party, _ := w.config.Party(sqlstore.LaneKey{Queue: "default", Kind: "noop", Tenant: tenant})
	party.Scope = scope
	return party
}
