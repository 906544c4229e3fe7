package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// PutTenant creates or replaces what is declared of a tenant.
func (s *Store) PutTenant(ctx context.Context, tenant fairlead.Tenant) (stored fairlead.Tenant, err error) {
	ctx = sqlstore.MayWait(ctx)
	labels, err := sqlstore.EncodeLabels(tenant.Labels)
	if err != nil {
		return fairlead.Tenant{}, fmt.Errorf("put tenant: %w", err)
	}
	err = s.rule(ctx, "put tenant", func(ctx context.Context, r *ruleChange) error {
		stored, err = r.putTenant(ctx, tenant, labels)
		return err
	})
	if err != nil {
		return fairlead.Tenant{}, err
	}
	return stored, nil
}

func (r *ruleChange) putTenant(ctx context.Context, tenant fairlead.Tenant, labels []byte) (fairlead.Tenant, error) {
	createdAt, err := r.checkVersion(ctx, tenant)
	if err != nil {
		return tenant, err
	}
	if err := r.family(tenant.Name).Check(&tenant); err != nil {
		return tenant, err
	}
	_, err = r.exec(ctx, r.sql.PutTenant, tenant.Name, tenant.Parent, tenant.MaxPending, tenant.Weight, labels,
		tenant.StartURL, tenant.FailURL, tenant.TimeoutURL, r.version, createdAt, r.now)
	if err != nil {
		return tenant, err
	}
	r.adopt(tenant.Name, tenant.Parent)
	if err := r.limit(ctx, tenant.Limit(), tenant.MinRunning); err != nil {
		return tenant, err
	}
	pause := r.sql.Resume
	if tenant.Paused {
		pause = r.sql.Pause
	}
	_, err = r.exec(ctx, pause, string(fairlead.PauseTenant), tenant.Name)
	tenant.Version, tenant.CreatedAt, tenant.UpdatedAt = r.version, sqlstore.Time(createdAt), sqlstore.Time(r.now)
	return tenant, err
}

// checkVersion finds out whether the tenant may be stored, and when it was
// first.
func (r *ruleChange) checkVersion(ctx context.Context, tenant fairlead.Tenant) (createdAt int64, err error) {
	var version int64
	declared, err := r.one(ctx, []any{&version, &createdAt}, r.sql.TenantVersion, tenant.Name)
	if err != nil {
		return 0, err
	}
	if !declared {
		createdAt = r.now
	}
	return createdAt, sqlstore.CheckVersion(tenant, version, declared)
}

// adopt gives a tenant its parent. Its jobs count against that from now on.
func (r *ruleChange) adopt(name, parent string) {
	if r.parents[name] != parent {
		r.reholds = true
	}
	r.parents[name] = parent
}

// DeleteTenant removes what was declared of a tenant.
func (s *Store) DeleteTenant(ctx context.Context, name string) error {
	ctx = sqlstore.MayWait(ctx)
	return s.rule(ctx, "delete tenant", func(ctx context.Context, r *ruleChange) error {
		if _, declared := r.parents[name]; !declared {
			return driver.NoSuchTenant(name)
		}
		if err := r.family(name).CheckDelete(name); err != nil {
			return err
		}
		if err := r.must(ctx, 1, r.sql.DeleteTenant, name); err != nil {
			return err
		}
		r.adopt(name, "")
		if err := r.limit(ctx, fairlead.Limit{Scope: fairlead.LimitTenant, Name: name}, 0); err != nil {
			return err
		}
		_, err := r.exec(ctx, r.sql.Resume, string(fairlead.PauseTenant), name)
		return err
	})
}

// Tenants lists declared tenants by name.
func (s *Store) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	named := ""
	if filter.Names != nil {
		if len(filter.Names) == 0 {
			return nil, nil
		}
		named = "and t.name in (" + nameList(filter.Names) + ")"
	}
	var tenants []fairlead.Tenant
	err := each(ctx, s.db, func(row *sql.Rows) error {
		tenant, err := sqlstore.ScanTenant(row)
		tenants = append(tenants, tenant)
		return err
	}, fill(s.sql.Tenants, "named", named), filter.After, filter.Page())
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	return tenants, nil
}

// readBounds reads how many jobs of tenants may be pending.
func (s *Store) readBounds(ctx context.Context) (map[string]int, error) {
	bounds := map[string]int{}
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var name string
		var most int
		err := row.Scan(&name, &most)
		bounds[name] = most
		return err
	}, s.sql.Bounds)
	return bounds, err
}
