package scale

import (
	"fmt"
	"math/rand/v2"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Spec is a cluster to simulate. Zero means the default.
type Spec struct {
	Nodes   int
	Tenants int // each has one lane
	Busy    int // tenants that have ready jobs, without end; default 1 % of them and at least 50

	Claims    float64 // a second, of each node; default 1
	Max       int     // jobs that a claim may take; default 10
	ClaimTime float64 // how long a claim takes, in seconds; default 0.005
	Seconds   int     // that are simulated; default 10
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

// overlapping is how many claims are under way at once.
func (s Spec) overlapping() int {
	return max(1, int(float64(s.Nodes)*s.Claims*s.ClaimTime+0.5))
}

// world is the database.
type world struct {
	spec  Spec
	rules *sqlstore.Rules
	lanes []lane
	heads []laneHead // what a node remembers of empty lanes, which is the same for all nodes
	fair  fairStarts
}

// lane has the jobs of one tenant. Claims take the first ones, so those taken are always
// the first.
type lane struct {
	sqlstore.LaneKey
	id     int32
	weight int
	busy   bool
	taken  int
}

// laneHead has the size of what a store remembers of a lane: a claim goes through all.
type laneHead struct {
	version        uint64
	known, touched bool
	view           laneView
	readAt         [3]uint64
}

// laneView has the size of that of a store.
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
	fair := &sqlstore.Quota{Rule: fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}}
	w.rules = sqlstore.NewRules(1, nil, nil, []*sqlstore.Quota{fair}).Weighed(weights)
	return w
}

// key is where the n-th job of a lane stands. Tenants store jobs in turn.
func (w *world) key(l *lane, n int) dispatch.Key {
	at := int64(n)*int64(len(w.lanes)) + int64(l.id)
	return dispatch.Key{StartBy: at, ID: at + 1}
}

// place is the opposite of key.
func (w *world) place(key dispatch.Key) int { return int((key.ID - 1) / int64(len(w.lanes))) }

// party is a tenant of the only scope, as the ledger names it.
func (w *world) party(scope, tenant string) dispatch.Party {
	party, _ := w.rules.Party(sqlstore.LaneKey{Queue: "default", Kind: "noop", Tenant: tenant})
	party.Scope = scope
	return party
}
