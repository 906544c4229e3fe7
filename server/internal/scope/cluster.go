package scope

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// ownPause returns an error for a pause of anything except a tenant of the caller.
func ownPause(ctx context.Context, pause fairlead.Pause) error {
	if pause.Scope != fairlead.PauseTenant {
		return RequireUnrestricted(ctx)
	}
	if !caller.Of(ctx).Identity.MayAccess(pause.Name) {
		return caller.ErrTenant(pause.Name)
	}
	return nil
}

// Pause stops jobs from being started.
func (s Restricted) Pause(ctx context.Context, pause fairlead.Pause) error {
	if err := ownPause(ctx, pause); err != nil {
		return err
	}
	return s.store.Pause(ctx, pause)
}

// Resume undoes Pause.
func (s Restricted) Resume(ctx context.Context, pause fairlead.Pause) error {
	if err := ownPause(ctx, pause); err != nil {
		return err
	}
	return s.store.Resume(ctx, pause)
}

// Drain requests that a node stop starting jobs.
func (s Restricted) Drain(ctx context.Context, node fairlead.NodeID, drain bool) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.Drain(ctx, node, drain)
}

// Held returns the jobs leased to a node.
func (s Restricted) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Held(ctx, node)
}

// DeleteTenant deletes the declaration of a tenant.
func (s Restricted) DeleteTenant(ctx context.Context, name string) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.DeleteTenant(ctx, name)
}

// Tenants returns the declared tenants of the caller, without parents that the caller may
// not see.
func (s Restricted) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	if !narrow(ctx, &filter.Names) {
		return nil, nil
	}
	tenants, err := s.store.Tenants(ctx, filter)
	hideParents(caller.Of(ctx).Identity, tenants)
	return tenants, err
}

// Secret returns a secret of the cluster.
func (s Restricted) Secret(ctx context.Context, name string) ([]byte, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Secret(ctx, name)
}

// SetLimit sets the limit of a scope.
func (s Restricted) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.SetLimit(ctx, limit)
}

// SetLimitSeen sets the limit of a scope, unless it was changed since the caller read it.
func (s Restricted) SetLimitSeen(ctx context.Context, limit, seen fairlead.Limit) error {
	if err := RequireUnrestricted(ctx); err != nil {
		return err
	}
	return s.store.SetLimitSeen(ctx, limit, seen)
}

// Limits returns all limits.
func (s Restricted) Limits(ctx context.Context) ([]fairlead.LimitUse, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Limits(ctx)
}

// Verify recounts the jobs of each limit.
func (s Restricted) Verify(ctx context.Context) ([]driver.Drift, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return nil, err
	}
	return s.store.Verify(ctx)
}

// Usage returns the usage of the caller's tenants. It includes the usage of a family only
// if the caller may access all of its tenants, and the total only for unrestricted callers.
func (s Restricted) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	report, err := s.store.Usage(ctx)
	who := caller.Of(ctx).Identity
	if err != nil || !who.Restricted() {
		return report, err
	}
	own := slices.DeleteFunc(report.Tenants, func(u fairlead.Usage) bool { return !who.MayAccess(u.Name) })
	for i := range own { // usage of a family would reveal the usage of other tenants in it
		if f := own[i].Family; f != nil && slices.ContainsFunc(f.Children, func(child string) bool { return !who.MayAccess(child) }) {
			own[i].Family = nil
		}
	}
	var lanes []fairlead.LaneUsage
	for _, lane := range report.Lanes { // which callers share
		if who.MayAccess(lane.Tenant) {
			lanes = append(lanes, lane)
		}
	}
	return fairlead.UsageReport{Tenants: own, Lanes: lanes}, nil
}
