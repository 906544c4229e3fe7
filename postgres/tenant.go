package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// PutTenant creates or replaces what is declared of a tenant.
func (s *Store) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	ctx = sqlstore.MayWait(ctx)
	labels, err := sqlstore.EncodeLabels(tenant.Labels)
	if err != nil {
		return fairlead.Tenant{}, fmt.Errorf("put tenant: %w", err)
	}
	var stored fairlead.Tenant
	err = s.changeRules(ctx, func(ctx context.Context, c *ruleChange) (err error) {
		stored, err = c.putTenant(ctx, tenant, labels)
		return err
	})
	if err != nil {
		return fairlead.Tenant{}, fmt.Errorf("put tenant: %w", err)
	}
	return stored, nil
}

func (c *ruleChange) putTenant(ctx context.Context, tenant fairlead.Tenant, labels []byte) (fairlead.Tenant, error) {
	before, err := c.lookUp(ctx, tenant.Name, tenant.Parent)
	if err == nil {
		err = sqlstore.CheckVersion(tenant, before.version, before.declared)
	}
	if err == nil {
		err = before.family.Check(&tenant)
	}
	if err != nil {
		return fairlead.Tenant{}, err
	}
	if before.parent != tenant.Parent {
		c.touch(fairlead.LimitTenant, tenant.Name)
	}
	tenant.Version = c.version
	var created, updated int64
	err = c.in.run(ctx, call{
		sql: c.sql.PutTenant,
		args: []any{
			tenant.Name, tenant.Parent, tenant.MaxPending, tenant.Weight, jsonText(labels), tenant.Version,
			tenant.StartURL, tenant.FailURL, tenant.TimeoutURL,
		},
		each: func(row sqlstore.Scanner) error { return row.Scan(&created, &updated) },
	})
	if err == nil {
		err = c.putQuota(ctx, tenant.Limit(), tenant.MinRunning, before.children)
	}
	if err == nil {
		err = c.setPause(ctx, fairlead.Pause{Scope: fairlead.PauseTenant, Name: tenant.Name}, tenant.Paused)
	}
	tenant.CreatedAt, tenant.UpdatedAt = sqlstore.Time(created), sqlstore.Time(updated)
	return tenant, err
}

// declared is what there is of a tenant that is about to change.
type declared struct {
	declared bool
	version  int64
	parent   string
	children []string
	family   sqlstore.Family
}

// lookUp reads what decides whether a tenant may be declared with a parent, or
// deleted.
func (c *ruleChange) lookUp(ctx context.Context, name, parent string) (declared, error) {
	found := declared{family: sqlstore.Family{Parents: map[string]string{}}}
	err := c.in.run(ctx,
		call{sql: c.sql.TenantVersion, args: []any{name}, each: func(row sqlstore.Scanner) error {
			found.declared = true
			return row.Scan(&found.version, &found.parent)
		}},
		call{sql: c.sql.Family, args: []any{name, parent}, each: func(row sqlstore.Scanner) error {
			var relative, itsParent string
			err := row.Scan(&relative, &itsParent)
			found.family.Parents[relative] = itsParent
			if itsParent == name {
				found.children = append(found.children, relative)
			}
			return err
		}},
		call{sql: c.sql.Minimums, args: []any{name}, each: func(row sqlstore.Scanner) error {
			return row.Scan(&found.family.Minimums, &found.family.GlobalCap)
		}})
	return found, err
}

// DeleteTenant removes what was declared of a tenant.
func (s *Store) DeleteTenant(ctx context.Context, name string) error {
	ctx = sqlstore.MayWait(ctx)
	if err := s.changeRules(ctx, func(ctx context.Context, c *ruleChange) error { return c.deleteTenant(ctx, name) }); err != nil {
		return fmt.Errorf("delete tenant: %w", err)
	}
	return nil
}

func (c *ruleChange) deleteTenant(ctx context.Context, name string) error {
	before, err := c.lookUp(ctx, name, "")
	switch {
	case err != nil:
		return err
	case !before.declared:
		return driver.NoSuchTenant(name)
	}
	if err := before.family.CheckDelete(name); err != nil {
		return err
	}
	if before.parent != "" {
		c.touch(fairlead.LimitTenant, name)
	}
	if err := c.in.run(ctx, call{sql: c.sql.DeleteTenant, args: []any{name}}); err != nil {
		return err
	}
	if err := c.putQuota(ctx, fairlead.Limit{Scope: fairlead.LimitTenant, Name: name}, 0, nil); err != nil {
		return err
	}
	return c.setPause(ctx, fairlead.Pause{Scope: fairlead.PauseTenant, Name: name}, false)
}

// Tenants lists declared tenants by name.
func (s *Store) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	var tenants []fairlead.Tenant
	err := s.run(ctx, call{
		sql: s.sql.Tenants, args: []any{filter.Names, filter.After, filter.Page()}, restart: func() { tenants = nil },
		each: func(row sqlstore.Scanner) error {
			t, err := sqlstore.ScanTenant(row)
			tenants = append(tenants, t)
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	return tenants, nil
}

// readBounds reads how many jobs of tenants may be pending.
func (s *Store) readBounds(ctx context.Context) (map[string]int, error) {
	var bounds map[string]int
	err := s.runPlain(ctx, call{sql: s.sql.Bounds, restart: func() { bounds = map[string]int{} }, each: func(row sqlstore.Scanner) error {
		var name string
		var most int
		err := row.Scan(&name, &most)
		bounds[name] = most
		return err
	}}, s.numberCall())
	return bounds, err
}
