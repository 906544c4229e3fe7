package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// tenantStore stores declared tenants.
type tenantStore struct {
	db     Database
	limits LimitChanges
	sql    *TenantStatements
	clock  *ClockStatements
	pauses *PauseStatements
}

// TenantStatements holds the SQL statements of tenantStore.
type TenantStatements struct {
	Tenants       string `sql:"tenants"`
	NamedTenants  string `sql:"named_tenants"`
	TenantVersion string `sql:"tenant_version"`
	PutTenant     string `sql:"put_tenant"`
	TouchTenant   string `sql:"touch_tenant"`
	DeleteTenant  string `sql:"delete_tenant"`
	Parents       string `sql:"parents"`
	Weights       string `sql:"weights"`
}

// PutTenant creates or replaces the declaration of a tenant.
func (s *tenantStore) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	labels, err := encodeLabels(tenant.Labels)
	if err != nil {
		return fairlead.Tenant{}, fmt.Errorf("put tenant: %w", err)
	}
	var stored fairlead.Tenant
	err = s.limits.ChangeLimits(MayWait(ctx), "put tenant", func(ctx context.Context, change LimitChange) (err error) {
		stored, err = s.put(ctx, change, tenant, labels)
		return err
	})
	if err != nil {
		return fairlead.Tenant{}, err
	}
	return stored, nil
}

func (s *tenantStore) put(ctx context.Context, change LimitChange, tenant fairlead.Tenant, labels []byte) (fairlead.Tenant, error) {
	before, err := s.lookUp(ctx, change, tenant.Name, tenant.Parent)
	if err != nil {
		return tenant, err
	}
	if err := checkVersion(tenant, before.version, before.declared); err != nil {
		return tenant, err
	}
	if err := before.family.check(&tenant); err != nil {
		return tenant, err
	}
	if before.parent != tenant.Parent {
		change.Adopt(tenant.Name, tenant.Parent)
	}
	created := before.now
	if before.declared {
		created = before.createdAt
	}
	tenant.Version, tenant.CreatedAt, tenant.UpdatedAt = change.Version(), Time(created), Time(before.now)
	change.Queue(s.sql.PutTenant, tenant.Name, tenant.Parent, tenant.MaxPending, tenant.Weight, JSON(labels),
		tenant.StartURL, tenant.FailURL, tenant.TimeoutURL, tenant.Version, created, before.now)
	if err := change.PutLimit(ctx, tenant.Limit(), tenant.MinRunning, before.family.children(tenant.Name)); err != nil {
		return tenant, err
	}
	pause := fairlead.Pause{Scope: fairlead.PauseTenant, Name: tenant.Name}
	if !before.declared && !tenant.Paused {
		// A caller that declares the tenant may not know that it is paused, and must not
		// resume it.
		pauses, err := ReadPauses(ctx, change, s.pauses)
		tenant.Paused = slices.ContainsFunc(pauses, func(other fairlead.Pause) bool { return unexplained(other) == pause })
		return tenant, err
	}
	s.pauses.setPause(change, pause, tenant.Paused)
	return tenant, nil
}

// declared is the stored state of a tenant that is about to change.
type declared struct {
	declared  bool
	version   int64
	parent    string
	createdAt int64
	family    Family
	now       int64
}

// lookUp reads the data that decides whether a tenant may be declared with a parent, or
// deleted.
func (s *tenantStore) lookUp(ctx context.Context, change LimitChange, name, parent string) (found declared, err error) {
	change.QueueEach(func(row Scanner) error {
		found.declared = true
		return row.Scan(&found.version, &found.parent, &found.createdAt)
	}, s.sql.TenantVersion, name)
	change.QueueEach(func(row Scanner) error { return row.Scan(&found.now) }, s.clock.Now)
	found.family, err = change.Family(ctx, name, parent)
	if err == nil {
		err = change.Flush(ctx)
	}
	return found, err
}

// DeleteTenant removes the declaration of a tenant.
func (s *tenantStore) DeleteTenant(ctx context.Context, name string) error {
	return s.limits.ChangeLimits(MayWait(ctx), "delete tenant", func(ctx context.Context, change LimitChange) error {
		before, err := s.lookUp(ctx, change, name, "")
		switch {
		case err != nil:
			return err
		case !before.declared:
			return driver.NoSuchTenant(name)
		}
		if err := before.family.checkDelete(name); err != nil {
			return err
		}
		if before.parent != "" {
			change.Adopt(name, "")
		}
		change.Queue(s.sql.DeleteTenant, name)
		if err := change.PutLimit(ctx, fairlead.Limit{Scope: fairlead.LimitTenant, Name: name}, 0, nil); err != nil {
			return err
		}
		s.pauses.setPause(change, fairlead.Pause{Scope: fairlead.PauseTenant, Name: name}, false)
		return nil
	})
}

// Tenants lists declared tenants by name.
func (s *tenantStore) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	limit := filter.Page()
	if filter.Names == nil {
		return readList(ctx, s.db.Read, "list tenants", scanTenant, s.sql.Tenants, filter.After, limit)
	}
	tenants, err := readList(ctx, s.db.Read, "list tenants", scanTenant, s.sql.NamedTenants, List[string](filter.Names), filter.After, limit)
	// Names queried in several parts are sorted only within each part.
	slices.SortFunc(tenants, func(a, b fairlead.Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return tenants[:min(len(tenants), limit)], err
}
