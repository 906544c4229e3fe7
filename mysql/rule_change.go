package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ruleChange is a change of tenants and limits, under the lock of the rules.
type ruleChange struct {
	*txn
	sqlstore.DB
	version, now int64
	parents      map[string]string
	quotas       []*quota
	reholds      bool // whether running jobs now count against other limits
	left         bool // a job still counts against other limits, because another transaction holds it
}

// rule changes tenants and limits.
func (s *Store) rule(ctx context.Context, verb string, change func(ctx context.Context, r *ruleChange) error) error {
	defer s.pending.Forget()
	var r *ruleChange
	err := s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		version, err := t.changeRules(ctx)
		if err != nil {
			return err
		}
		r = &ruleChange{txn: t, DB: t.db(), version: version}
		if err := change(ctx, r); err != nil {
			return err
		}
		if err := r.Flush(ctx); err != nil || !r.reholds {
			return err
		}
		_, err = r.rehold(ctx)
		return err
	})
	if err == nil && r.reholds {
		s.reholding.Left(r.left)
	}
	return err
}

// reholdAll gives every running and waiting job the quotas of the current rules, and returns the
// counts that were wrong.
func (s *Store) reholdAll(ctx context.Context, verb string) (drift []driver.Drift, err error) {
	var r *ruleChange
	err = s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		r = &ruleChange{txn: t}
		if _, err := t.one(ctx, []any{&r.version}, t.sql.LockRules); err != nil {
			return err
		}
		if err := r.read(ctx); err != nil {
			return err
		}
		drift, err = r.rehold(ctx)
		return err
	})
	if err == nil {
		s.reholding.Left(r.left)
	}
	return drift, err
}

// reholdLeft moves the jobs to their new quotas that another transaction held when the rules
// changed.
func (s *Store) reholdLeft(ctx context.Context) error {
	if !s.reholding.Due() {
		return nil
	}
	_, err := s.reholdAll(ctx, "count against changed limits")
	return err
}

// read reads the rules before the change.
func (r *ruleChange) read(ctx context.Context) (err error) {
	if r.now, err = r.clock(ctx); err != nil {
		return err
	}
	if r.parents, err = r.txn.parents(ctx); err != nil {
		return err
	}
	r.quotas, err = readQuotas(ctx, r.tx, r.sql.Quotas)
	return err
}

// Version implements sqlstore.RuleChange.
func (r *ruleChange) Version() int64 { return r.version }

// Family implements sqlstore.RuleChange.
func (r *ruleChange) Family(ctx context.Context, name, _ string) (sqlstore.Family, error) {
	if err := r.read(ctx); err != nil {
		return sqlstore.Family{}, err
	}
	return r.family(name), nil
}

// Adopt implements sqlstore.RuleChange.
func (r *ruleChange) Adopt(name, parent string) { r.parents[name], r.reholds = parent, true }

// PutQuota implements sqlstore.RuleChange. A rate that differs starts with its burst.
func (r *ruleChange) PutQuota(ctx context.Context, limit fairlead.Limit, least int, _ []string) error {
	if err := r.Flush(ctx); err != nil {
		return err
	}
	return r.limit(ctx, limit, least)
}

// family is what the other tenants have to say.
func (r *ruleChange) family(except string) sqlstore.Family {
	return sqlstore.NewFamily(r.parents, sqlstore.PlainQuotas(r.quotas), except)
}

// limit sets the limit of a scope. A changed rate starts with a full burst.
func (r *ruleChange) limit(ctx context.Context, rule fairlead.Limit, least int) error {
	q := r.quotaOf(rule)
	was, places := q.Active(), max(q.Rule.PerKey, 1)
	if q.Rule.Rate != rule.Rate || q.Rule.Burst != rule.Burst {
		q.tokens, q.refilledAt = float64(rule.Burst), r.now
	}
	q.Rule, q.Min = rule, least
	if was != q.Active() {
		r.reholds = true
	}
	if rule.PerKey > places {
		if err := r.widen(ctx, rule.Name); err != nil {
			return err
		}
	}
	if q.ID != 0 {
		return r.must(ctx, 1, r.sql.SetQuota, rule.MaxRunning, least, rule.Rate, rule.Burst, rule.PerKey, string(rule.Order), q.tokens, q.refilledAt, q.ID)
	}
	if !q.Set() {
		return nil // it never existed
	}
	result, err := r.tx.ExecContext(ctx, r.sql.AddQuota, string(rule.Scope), rule.Name, rule.MaxRunning, least, rule.Rate, rule.Burst, rule.PerKey, string(rule.Order), q.tokens, q.refilledAt)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	q.ID = int32(id)
	r.quotas = append(r.quotas, q)
	return err
}

// quotaOf returns the row of a limit, or a new one.
func (r *ruleChange) quotaOf(rule fairlead.Limit) *quota {
	for _, q := range r.quotas {
		if q.Rule.Scope == rule.Scope && q.Rule.Name == rule.Name {
			return q
		}
	}
	return &quota{now: r.now}
}
