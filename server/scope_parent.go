package server

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// What a caller who is bound to tenants reads in place of how the parent of one of them stands.
const (
	parentKeeps = "the parent of its tenant is holding it back"
	parentKept  = "the parent of its tenant was holding it back"
)

// hideParent removes from obstacles what belongs to a tenant that the caller may not see: the
// parent of the caller's own. Its name, its usage and its limits become text.
func hideParent(who Identity, obstacles []fairlead.Obstacle, text string) {
	for i := range obstacles {
		if o := &obstacles[i]; o.Scope == fairlead.LimitTenant && !who.touches(o.Name) {
			*o = fairlead.Obstacle{Code: o.Code, Scope: o.Scope, Text: text}
		}
	}
}

// hideOthers removes from an explanation what callers who are bound to tenants may not know:
// the names of nodes, what others run, the parent of the tenant, and how many jobs of others
// go first.
func hideOthers(who Identity, why *fairlead.Explanation) {
	if why.Run != nil {
		why.Run.Name = ""
	}
	hideParent(who, why.Obstacles, parentKeeps)
	for i := range why.Obstacles {
		switch o := &why.Obstacles[i]; o.Code {
		case fairlead.NoSlot:
			o.Kinds = nil
		case fairlead.InLine:
			o.Text = ownFirst(why.AheadOwn)
		}
	}
	why.Ahead = why.AheadOwn
}

// ownFirst says how many jobs of the same tenant go first.
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
func hideParents(who Identity, tenants []fairlead.Tenant) {
	for i := range tenants {
		if parent := &tenants[i].Parent; *parent != "" && !who.touches(*parent) {
			*parent = ""
		}
	}
}
