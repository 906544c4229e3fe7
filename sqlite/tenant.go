package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// PutTenant creates or replaces what is declared of a tenant.
func (s *Store) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	labels, err := sqlstore.EncodeLabels(tenant.Labels)
	if err != nil {
		return fairlead.Tenant{}, err
	}
	return inTx(ctx, s, "put tenant", func(t *txn) (fairlead.Tenant, error) { return t.putTenant(tenant, labels) })
}

func (t *txn) putTenant(tenant fairlead.Tenant, labels []byte) (fairlead.Tenant, error) {
	createdAt, err := t.checkVersion(tenant)
	if err != nil {
		return fairlead.Tenant{}, err
	}
	family, err := t.family(tenant.Name)
	if err != nil {
		return fairlead.Tenant{}, err
	}
	if err := family.Check(&tenant); err != nil {
		return fairlead.Tenant{}, err
	}
	if tenant.Version, err = t.changeRules(); err != nil {
		return fairlead.Tenant{}, err
	}
	err = t.must(1, t.sql.PutTenant, tenant.Name, tenant.Parent, tenant.MaxPending, tenant.Weight, text(labels),
		tenant.StartURL, tenant.FailURL, tenant.TimeoutURL, tenant.Version, createdAt, t.now)
	if err != nil {
		return fairlead.Tenant{}, err
	}
	if err := t.putQuota(tenant.Limit(), tenant.MinRunning); err != nil {
		return fairlead.Tenant{}, err
	}
	pause := t.sql.Resume
	if tenant.Paused {
		pause = t.sql.Pause
	}
	if _, err := t.exec(pause, string(fairlead.PauseTenant), tenant.Name); err != nil {
		return fairlead.Tenant{}, err
	}
	tenant.CreatedAt, tenant.UpdatedAt = sqlstore.Time(createdAt), sqlstore.Time(t.now)
	return tenant, nil
}

// checkVersion finds out whether the tenant may be stored, and when it was
// first.
func (t *txn) checkVersion(tenant fairlead.Tenant) (createdAt int64, err error) {
	var version int64
	declared, err := t.one(t.sql.TenantVersion, []any{tenant.Name}, &version, &createdAt)
	if err != nil {
		return 0, err
	}
	if !declared {
		createdAt = t.now
	}
	return createdAt, sqlstore.CheckVersion(tenant, version, declared)
}

// family is what the other tenants have to say.
func (t *txn) family(except string) (sqlstore.Family, error) {
	parents, err := t.parents()
	if err != nil {
		return sqlstore.Family{}, err
	}
	quotas, err := t.quotas()
	if err != nil {
		return sqlstore.Family{}, err
	}
	family := sqlstore.Family{Parents: parents}
	for _, q := range quotas {
		switch {
		case q.Rule.Scope == fairlead.LimitGlobal:
			family.GlobalCap = q.Rule.MaxRunning
		case q.Rule.Scope != fairlead.LimitTenant || q.Rule.Name != except:
			family.Minimums += q.Min
		}
	}
	return family, nil
}

// DeleteTenant removes what was declared of a tenant.
func (s *Store) DeleteTenant(ctx context.Context, name string) error {
	_, err := inTx(ctx, s, "delete tenant", func(t *txn) (none, error) { return none{}, t.deleteTenant(name) })
	return err
}

func (t *txn) deleteTenant(name string) error {
	family, err := t.family(name)
	if err != nil {
		return err
	}
	if _, declared := family.Parents[name]; !declared {
		return driver.NoSuchTenant(name)
	}
	if err := family.CheckDelete(name); err != nil {
		return err
	}
	if _, err := t.changeRules(); err != nil {
		return err
	}
	if err := t.must(1, t.sql.DeleteTenant, name); err != nil {
		return err
	}
	if err := t.putQuota(fairlead.Limit{Scope: fairlead.LimitTenant, Name: name}, 0); err != nil {
		return err
	}
	_, err = t.exec(t.sql.Resume, string(fairlead.PauseTenant), name)
	return err
}

// Tenants lists declared tenants by name.
func (s *Store) Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	return read(ctx, s, "list tenants", func(t *txn) ([]fairlead.Tenant, error) { return t.tenants(filter) })
}

func (t *txn) tenants(filter fairlead.TenantFilter) ([]fairlead.Tenant, error) {
	var names any
	if filter.Names != nil {
		list, err := json.Marshal(filter.Names)
		if err != nil {
			return nil, fmt.Errorf("names: %w", err)
		}
		names = string(list)
	}
	var tenants []fairlead.Tenant
	err := t.each(t.sql.Tenants, []any{names, filter.After, filter.Page()}, func(row sqlstore.Scanner) error {
		tenant, err := sqlstore.ScanTenant(row)
		tenants = append(tenants, tenant)
		return err
	})
	return tenants, err
}

// enqueueBounded stores jobs unless a tenant has as many as it may.
func (t *txn) enqueueBounded(jobs []newJob) ([]int64, error) {
	if err := t.checkPending(jobs); err != nil {
		return nil, err
	}
	return t.enqueue(jobs)
}

// checkPending refuses new jobs of tenants that have as many as they may.
func (t *txn) checkPending(jobs []newJob) error {
	fresh := map[string]int{}
	for i := range jobs {
		fresh[jobs[i].lane.Tenant]++
	}
	for tenant, n := range fresh {
		bound, pending, err := t.bound(tenant)
		if err == nil && bound > 0 {
			err = sqlstore.CheckPending(tenant, pending, n, bound)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bound is how many jobs a tenant may have pending, zero if there is no bound, and how
// many it has.
func (t *txn) bound(tenant string) (bound, pending int, err error) {
	_, err = t.one(t.sql.Bound, []any{tenant}, &bound, &pending)
	return bound, pending, err
}
