package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// declaredTenants returns the initial declarations of the tenants. The last one has less
// capacity than its jobs need, so that some of them always wait for an interesting reason.
func declaredTenants() []fairlead.Tenant {
	labels := func(plan string) map[string]string { return map[string]string{label: labelValue, "plan": plan} }
	return []fairlead.Tenant{
		{Name: acme, MaxRunning: 24, MinRunning: 2, Rate: 50, Burst: 20, Weight: 3, Labels: labels("enterprise")},
		{Name: globex, MaxRunning: 16, MinRunning: 1, Rate: 20, Burst: 10, Weight: 2, Labels: labels("business")},
		{Name: initech, MaxRunning: 3, Rate: 0.25, Burst: 1, MaxPending: 60, Weight: 1, Labels: labels("trial")},
	}
}

// declareTenants stores the tenants. It leaves existing ones unchanged, because an operator
// may have changed them.
func (d *Demo) declareTenants(ctx context.Context) error {
	for _, tenant := range declaredTenants() {
		if _, err := d.jobs.PutTenant(ctx, tenant); err != nil && !errors.Is(err, fairlead.ErrConflict) {
			return fmt.Errorf("demo tenant %q: %w", tenant.Name, err)
		}
	}
	return nil
}

// ownTenants returns the demo's tenants, and those of their names that are declared for
// another purpose. The demo exists if a tenant has its label. In that case names that are
// not declared belong to it too: an operator has deleted their declarations, and their jobs
// have stayed.
func ownTenants(ctx context.Context, client *fairlead.Client) (own, foreign []string, err error) {
	found, err := client.Tenants(ctx, fairlead.TenantFilter{Names: Tenants()})
	for _, tenant := range found {
		if !owns(tenant) {
			foreign = append(foreign, tenant.Name)
		}
	}
	if len(foreign) == len(found) {
		return nil, foreign, err
	}
	for _, name := range Tenants() {
		if !slices.Contains(foreign, name) {
			own = append(own, name)
		}
	}
	return own, foreign, err
}
