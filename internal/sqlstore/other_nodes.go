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
// claiming node does not serve. If a limit has little room, a claim leaves jobs in these
// lanes the slots that the limit entitles them to. Otherwise a busy node with later jobs
// would take every freed slot, and earlier jobs on other nodes would wait.
//
// Nodes report their free slots in beats, so the numbers are a few seconds old. Slots left
// for a node that can no longer use them stay unused for that time.
type OtherNodes struct {
	scope *driver.Scope
	nodes []fairlead.Node // nodes with free slots that serve lanes this node does not serve
	known map[string]*dispatch.Others
}

// NewOtherNodes selects those of the given nodes that are live at the time now, have free
// slots and serve lanes outside scope. self is the claiming node.
func NewOtherNodes(self fairlead.NodeID, scope *driver.Scope, nodes []fairlead.Node, now time.Time) *OtherNodes {
	s := &OtherNodes{scope: scope, known: map[string]*dispatch.Others{}}
	for _, node := range nodes {
		if node.ID != self && !node.Dead && !node.Draining && node.Until.After(now) && node.Idle > 0 && !covers(scope, driver.ScopeOf(&node)) {
			s.nodes = append(s.nodes, node)
		}
	}
	return s
}

// Any reports whether any other node has free slots for foreign lanes.
func (s *OtherNodes) Any() bool { return len(s.nodes) > 0 }

// Of returns the nodes that can run the lane's jobs. It returns nil if the claiming node
// serves the lane or no other node does.
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

// Tight reports whether a claim of up to most jobs could exceed any limit of the given lanes.
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
