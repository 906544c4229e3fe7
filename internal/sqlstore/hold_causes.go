package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
)

// causes returns what keeps the jobs of some lanes and gates from starting, without
// duplicates.
func causes(facts Facts, lanes []LaneKey, gates []waitingGate) []hold.Seen {
	var all []hold.Seen
	known := map[hold.Cause]bool{}
	add := func(seen hold.Seen) {
		if !known[seen.Cause] {
			known[seen.Cause] = true
			all = append(all, seen)
		}
	}
	for _, lane := range lanes {
		facts.Job = &fairlead.Job{Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind}
		e := explaining{Facts: facts, lane: lane}
		e.paused()
		e.limited()
		for _, o := range e.Obstacles {
			add(seenOf(o))
		}
		if code := facts.lack(); code != "" {
			seen := hold.Seen{Cause: hold.Cause{Code: code, Queue: lane.Queue, Kind: lane.Kind}}
			if code == fairlead.NoNode {
				seen.Since = facts.lastLease(lane)
			}
			add(seen)
		}
	}
	for _, gate := range gates {
		add(hold.Seen{
			Cause: hold.Cause{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: gate.lane.Tenant, Kind: gate.lane.Kind, Gate: gate.key},
			Used:  gate.used, Cap: facts.LimitConfig.Places(gate.lane.Kind),
		})
	}
	return all
}

// seenOf converts an obstacle of one lane to a cause for all lanes that it affects.
func seenOf(o fairlead.Obstacle) hold.Seen {
	seen := hold.Seen{Cause: hold.Cause{Code: o.Code, Scope: o.Scope}, Used: o.Used, Cap: o.Cap}
	switch o.Scope {
	case fairlead.LimitQueue:
		seen.Queue = o.Name
	case fairlead.LimitKind:
		seen.Kind = o.Name
	case fairlead.LimitTenant:
		seen.Tenant = o.Name
	}
	return seen
}

// lastLease returns the latest lease end of the nodes that could run jobs of a lane, or the
// zero time if there was no such node.
func (f *Facts) lastLease(lane LaneKey) (last time.Time) {
	for i := range f.Nodes {
		if node := &f.Nodes[i]; node.Until.After(last) && node.ServesTenant(lane.Queue, lane.Tenant, lane.Kind) {
			last = node.Until
		}
	}
	return last
}
