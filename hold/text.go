package hold

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// order lists the codes in the order in which a claim would find them.
var order = [...]fairlead.ObstacleCode{fairlead.AtGate, fairlead.IsPaused, fairlead.AtCap, fairlead.OverRate, fairlead.NoNode, fairlead.NoSlot, Unrecorded}

func compareCauses(a, b Cause) int {
	return cmp.Or(
		cmp.Compare(slices.Index(order[:], a.Code), slices.Index(order[:], b.Code)), cmp.Compare(a.Scope, b.Scope),
		cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Gate, b.Gate),
	)
}

// Text returns a human-readable description of the hold.
func (h Hold) Text() string {
	switch h.Code {
	case fairlead.IsPaused:
		return h.whose() + " was paused"
	case fairlead.AtCap:
		return fmt.Sprintf("%s was at its cap: %d of %d jobs were running or awaiting a result", h.whose(), h.Used, h.Cap)
	case fairlead.OverRate:
		return h.whose() + " was at its start rate"
	case fairlead.AtGate:
		return fmt.Sprintf("concurrency key %q had %d of %d slots in use", h.Gate, h.Used, h.Cap)
	case fairlead.NoNode:
		if h.Queue == "" {
			return "there was no live node"
		}
		return fmt.Sprintf("no live node that started jobs served queue %q and handled kind %q", h.Queue, h.Kind)
	case fairlead.NoSlot:
		return fmt.Sprintf("all slots were in use on the nodes that serve queue %q and handle kind %q", h.Queue, h.Kind)
	}
	return "nothing was recorded"
}

func (c Cause) whose() string {
	switch {
	case c.Scope == fairlead.LimitGlobal:
		return "the cluster"
	case c.Scope == fairlead.LimitTenant && c.Tenant == "": // the name is hidden
		return "the parent of the tenant"
	}
	return fmt.Sprintf("%s %q", c.Scope, c.Name())
}
