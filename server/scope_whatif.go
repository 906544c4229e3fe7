package server

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// WhatIf tells what would start. A caller who is bound to tenants may ask about these, and
// learns nothing of others: neither of their jobs nor, by what is refused, of their minimums
// and parents.
func (s scoped) WhatIf(ctx context.Context, question fairlead.WhatIf) (fairlead.Forecast, error) {
	who := callerOf(ctx).identity
	if !who.bound() {
		return s.store.WhatIf(ctx, question)
	}
	for _, change := range question.Changes {
		if err := s.ownChange(ctx, change); err != nil {
			return fairlead.Forecast{}, err
		}
	}
	question.Tenants = who.Tenants
	forecast, err := s.store.WhatIf(ctx, question)
	forecast.Idle, forecast.Before.Token, forecast.After.Token = 0, time.Time{}, time.Time{}
	for i := range forecast.Waits {
		wait := &forecast.Waits[i]
		wait.Before.First, wait.After.First = 0, 0 // places among the jobs of all tenants
		hideOthers(who, wait.Before.Held)
		hideOthers(who, wait.After.Held)
	}
	return forecast, err
}

// hideOthers leaves of obstacles nothing that is about others than the tenants of a caller:
// not how its parent is called and what that uses, and not which kinds others have.
func hideOthers(who Identity, obstacles []fairlead.Obstacle) {
	for i := range obstacles {
		o := &obstacles[i]
		o.Kinds = nil
		if o.Scope == fairlead.LimitTenant && !who.touches(o.Name) {
			o.Name, o.Used, o.Cap, o.Text = "", 0, 0, "the parent of its tenant keeps it waiting"
		}
	}
}

// ownChange fails for a change that concerns others than the caller's tenants.
func (s scoped) ownChange(ctx context.Context, change fairlead.RuleChange) error {
	if change.Tenant == nil {
		return errForbidden
	}
	name := change.Tenant.Name
	if !callerOf(ctx).identity.touches(name) {
		return errTenant(name)
	}
	found, err := s.store.Tenants(ctx, fairlead.TenantFilter{Names: []string{name}})
	if err != nil {
		return err
	}
	current := fairlead.Tenant{}
	if len(found) > 0 {
		current = found[0]
	}
	if current.Parent != change.Tenant.Parent || current.MinRunning != change.Tenant.MinRunning {
		return errForbidden
	}
	return nil
}
