package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitChange is a change of the limits in progress.
type limitChange struct {
	sqlstore.DB
	t       *txn
	version int64
}

// Version implements sqlstore.LimitChange.
func (c *limitChange) Version() int64 { return c.version }

// Family implements sqlstore.LimitChange.
func (c *limitChange) Family(_ context.Context, name, _ string) (sqlstore.Family, error) {
	return c.t.family(name)
}

// Adopt implements sqlstore.LimitChange: what jobs count against is found out by each claim.
func (c *limitChange) Adopt(string, string) {}

// PutLimit implements sqlstore.LimitChange.
func (c *limitChange) PutLimit(ctx context.Context, limit fairlead.Limit, least int, _ []string) error {
	if err := c.Flush(ctx); err != nil {
		return err
	}
	return c.t.putLimit(limit, least)
}

// family holds the facts about the other tenants.
func (t *txn) family(except string) (sqlstore.Family, error) {
	parents, err := t.parents()
	if err != nil {
		return sqlstore.Family{}, err
	}
	rows, err := t.limitRows()
	if err != nil {
		return sqlstore.Family{}, err
	}
	return sqlstore.NewFamily(parents, sqlstore.PlainLimits(rows), except), nil
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
