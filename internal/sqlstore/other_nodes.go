package sqlstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// OtherNodes holds the nodes with free slots that serve foreign lanes: lanes that the
// claiming node does not serve. If a limit is tight, a claim leaves to the jobs of these
// lanes what the limit entitles them to. Otherwise a busy node with late work would take
// every freed slot, and earlier work of other nodes would wait.
//
// Nodes report their free slots in beats, a few seconds late: a slot that no other node can
// use stays unused for that long.
type OtherNodes struct {
	scope *driver.Scope
	nodes []fairlead.Node // nodes with free slots that serve lanes this node does not serve
	known map[string]*dispatch.Others
}

// NewOtherNodes selects the relevant nodes at the time now.
func NewOtherNodes(self fairlead.NodeID, scope *driver.Scope, nodes []fairlead.Node, now time.Time) *OtherNodes {
	s := &OtherNodes{scope: scope, known: map[string]*dispatch.Others{}}
	for _, node := range nodes {
		if node.ID != self && !node.Dead && !node.Draining && node.Until.After(now) && node.Idle > 0 && !covers(scope, driver.ScopeOf(&node)) {
			s.nodes = append(s.nodes, node)
		}
	}
	return s
}

// Any reports whether there are such nodes.
func (s *OtherNodes) Any() bool { return len(s.nodes) > 0 }

// Of returns the nodes that can run jobs of a lane. It returns nil if the claiming node
// serves the lane or no other node can.
func (s *OtherNodes) Of(lane LaneKey) *dispatch.Others {
	if Serves(s.scope, lane) {
		return nil
	}
	var name string
	idle := 0
	for _, node := range s.nodes {
		if node.ServesTenant(lane.Queue, lane.Tenant, lane.Kind) {
			name += fmt.Sprint(node.ID, " ")
			idle += node.Idle
		}
	}
	if idle == 0 {
		return nil
	}
	if s.known[name] == nil {
		s.known[name] = &dispatch.Others{Idle: idle}
	}
	return s.known[name]
}

// covers reports whether one scope includes everything that another includes.
func covers(scope, other *driver.Scope) bool {
	for _, kind := range other.Kinds {
		if !slices.Contains(scope.Kinds, kind) {
			return false
		}
	}
	if scope.Tenants != nil && (other.Tenants == nil || slices.ContainsFunc(other.Tenants, func(tenant string) bool { return !slices.Contains(scope.Tenants, tenant) })) {
		return false
	}
	switch {
	case scope.Queues == nil && len(scope.Except) == 0:
		return true
	case other.Queues == nil:
		return false
	}
	return !slices.ContainsFunc(other.Queues, func(queue string) bool {
		if scope.Queues == nil {
			return slices.Contains(scope.Except, queue)
		}
		return !slices.Contains(scope.Queues, queue)
	})
}

// Tight reports whether some limit of the lanes may have less room than a claim of most
// jobs needs.
func Tight(lanes []*dispatch.Lane, most int) bool {
	for _, lane := range lanes {
		for _, limit := range lane.Limits {
			if limit.Room() < most {
				return true
			}
		}
	}
	return false
}
