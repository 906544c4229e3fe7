package scope

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// WhatIf returns what would start. Callers bound to tenants may ask about their tenants.
// They learn nothing about others: neither about jobs nor, from validation errors, about
// minimums and parents.
func (s Restricted) WhatIf(ctx context.Context, question fairlead.WhatIf) (fairlead.Forecast, error) {
	who := caller.Of(ctx).Identity
	if !who.Restricted() {
		return s.store.WhatIf(ctx, question)
	}
	question.Changes = slices.Clone(question.Changes)
	for i, change := range question.Changes {
		own, err := s.ownChange(ctx, change)
		if err != nil {
			return fairlead.Forecast{}, err
		}
		question.Changes[i] = own
	}
	question.Tenants = who.Tenants
	forecast, err := s.store.WhatIf(ctx, question)
	forecast.Idle, forecast.Before.Token, forecast.After.Token = 0, time.Time{}, time.Time{}
	for i := range forecast.Waits {
		wait := &forecast.Waits[i]
		wait.Before.First, wait.After.First = 0, 0 // positions among the jobs of all tenants
		for _, held := range [][]fairlead.Obstacle{wait.Before.Held, wait.After.Held} {
			hideParent(who, held, parentKeeps)
			hideReasons(held)
			for j := range held {
				held[j].Kinds = nil // the kinds may belong to other tenants
			}
		}
	}
	return forecast, err
}

// ownChange returns the change in the form in which the store is asked. It returns an error
// for a change that affects tenants other than the caller's. A caller who cannot see the
// parent of a tenant must leave it out; any name is rejected, so that the parent cannot be
// guessed.
func (s Restricted) ownChange(ctx context.Context, change fairlead.RuleChange) (fairlead.RuleChange, error) {
	if change.Tenant == nil {
		return change, caller.ErrForbidden
	}
	who, asked := caller.Of(ctx).Identity, *change.Tenant
	if !who.MayAccess(asked.Name) {
		return change, caller.ErrTenant(asked.Name)
	}
	found, err := s.store.Tenants(ctx, fairlead.TenantFilter{Names: []string{asked.Name}})
	if err != nil {
		return change, err
	}
	current := fairlead.Tenant{}
	if len(found) > 0 {
		current = found[0]
	}
	shown := []fairlead.Tenant{current}
	hideParents(who, shown)
	if shown[0].Parent != asked.Parent || current.MinRunning != asked.MinRunning {
		return change, caller.ErrForbidden
	}
	asked.Parent = current.Parent
	return fairlead.RuleChange{Tenant: &asked}, nil
}
