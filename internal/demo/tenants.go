package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// declaredTenants are the tenants as they are first stored. The last one has less than its
// jobs want, so that some of them always wait for a reason worth explaining.
func declaredTenants() []fairlead.Tenant {
	labels := func(plan string) map[string]string { return map[string]string{label: labelValue, "plan": plan} }
	return []fairlead.Tenant{
		{Name: acme, MaxRunning: 24, MinRunning: 2, Rate: 50, Burst: 20, Weight: 3, Labels: labels("enterprise")},
		{Name: globex, MaxRunning: 16, MinRunning: 1, Rate: 20, Burst: 10, Weight: 2, Labels: labels("business")},
		{Name: initech, MaxRunning: 3, Rate: 0.25, Burst: 1, MaxPending: 60, Weight: 1, Labels: labels("trial")},
	}
}

// declareTenants stores the tenants. One that is there stays as it is: an operator may have
// changed it.
func (d *Demo) declareTenants(ctx context.Context) error {
	for _, tenant := range declaredTenants() {
		if _, err := d.jobs.PutTenant(ctx, tenant); err != nil && !errors.Is(err, fairlead.ErrConflict) {
			return fmt.Errorf("demo tenant %q: %w", tenant.Name, err)
		}
	}
	return nil
}

// ownTenants returns the demo's tenants, and which of their names are declared for something
// else. The demo is there if a tenant carries its label. Then the names that are not
// declared are its own too: an operator has removed them, and their jobs have stayed.
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
