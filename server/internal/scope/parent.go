package scope

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// Texts that callers bound to tenants see instead of the state of a tenant's parent.
const (
	parentKeeps = "the parent of its tenant is holding it back"
	parentKept  = "the parent of its tenant was holding it back"
)

// hideParent replaces obstacles of a tenant that the caller may not see, which is the
// parent of the caller's own tenant. The text stands in for the parent's name, usage and
// limits.
func hideParent(who caller.Identity, obstacles []fairlead.Obstacle, text string) {
	for i := range obstacles {
		if o := &obstacles[i]; o.Scope == fairlead.LimitTenant && !who.MayAccess(o.Name) {
			*o = fairlead.Obstacle{Code: o.Code, Scope: o.Scope, Text: text}
		}
	}
}

// hideReasons removes the reasons for pauses of queues and kinds, which tenants share: a
// reason may be about another tenant.
func hideReasons(obstacles []fairlead.Obstacle) {
	for i := range obstacles {
		if o := &obstacles[i]; o.Reason != "" && o.Scope != fairlead.LimitTenant {
			o.Reason, o.Text = "", fmt.Sprintf("%s %q is paused", o.Scope, o.Name)
		}
	}
}

// hideOthers removes information from an explanation that callers bound to tenants may not
// see: the names of nodes, the runs of other tenants, the parent of the tenant, and the
// numbers of jobs of other tenants that go first or start.
func hideOthers(who caller.Identity, why *fairlead.Explanation) {
	if why.Run != nil {
		why.Run.Name = ""
	}
	hideParent(who, why.Obstacles, parentKeeps)
	hideReasons(why.Obstacles)
	for i := range why.Obstacles {
		switch o := &why.Obstacles[i]; o.Code {
		case fairlead.NoSlot:
			o.Kinds = nil
		case fairlead.InLine:
			o.Text = ownFirst(why.AheadOwn)
		}
	}
	why.Ahead = why.AheadOwn
	if why.NoEstimate != nil && why.NoEstimate.Reason == fairlead.Overtaken {
		why.NoEstimate = &fairlead.NoEstimate{Reason: fairlead.Overtaken, Text: "newer jobs overtake it about as fast as jobs start"}
	}
}

// ownFirst describes the number of jobs of the same tenant that go first.
func ownFirst(n int) string {
	switch {
	case n >= fairlead.MaxAhead:
		return fmt.Sprintf("%d or more jobs of its tenant are ahead of it", fairlead.MaxAhead)
	case n == 0:
		return "jobs of other tenants are ahead of it"
	case n == 1:
		return "1 job of its tenant is ahead of it"
	}
	return fmt.Sprintf("%d jobs of its tenant are ahead of it", n)
}

// hideParents removes the names of parents that the caller may not see.
func hideParents(who caller.Identity, tenants []fairlead.Tenant) {
	for i := range tenants {
		if parent := &tenants[i].Parent; *parent != "" && !who.MayAccess(*parent) {
			*parent = ""
		}
	}
}
