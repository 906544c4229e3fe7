package mysql

import (
	"context"
	"database/sql"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// rules are the rules of one version, with what they mean for lanes.
type rules struct {
	*sqlstore.Rules
	open sync.Map // *driver.Scope → *openList
}

// rulesOf returns the rules of a locked version.
func (t *txn) rulesOf(ctx context.Context, version int64) (*rules, error) {
	if known := t.rules.Load(); known != nil && known.Version == version {
		return known, nil
	}
	read, err := t.readRules(ctx, version)
	if err != nil {
		return nil, err
	}
	known := &rules{Rules: read}
	t.rules.Store(known)
	return known, nil
}

// readRules reads the rules of a version.
func (t *txn) readRules(ctx context.Context, version int64) (*sqlstore.Rules, error) {
	pauses, err := sqlstore.ReadPauses(ctx, t.db(), &t.sql.PauseStatements)
	if err != nil {
		return nil, err
	}
	parents, err := t.parents(ctx)
	if err != nil {
		return nil, err
	}
	quotas, err := readQuotas(ctx, t.tx, t.sql.Quotas)
	if err != nil {
		return nil, err
	}
	return sqlstore.NewRules(version, pauses, parents, plainQuotas(quotas)), nil
}

// changeRules begins a change of the rules and returns their new version. No claim runs
// until the transaction ends. Nodes are then woken, because the new rules may allow
// more.
func (t *txn) changeRules(ctx context.Context) (int64, error) {
	result, err := t.tx.ExecContext(ctx, t.sql.ChangeRules, sqlstore.VersionStep())
	if err != nil {
		return 0, err
	}
	t.wakes.all = true
	return result.LastInsertId()
}

// parents returns the parent of every declared tenant, empty if it has none.
func (t *txn) parents(ctx context.Context) (map[string]string, error) {
	parents := map[string]string{}
	err := t.each(ctx, func(row *sql.Rows) error {
		var name, parent string
		err := row.Scan(&name, &parent)
		parents[name] = parent
		return err
	}, t.sql.Parents)
	return parents, err
}

// quota is a limit with its use.
type quota struct {
	sqlstore.Quota
	running    int // jobs that count against it
	freed      int // slots given back that are not subtracted yet
	tokens     float64
	refilledAt int64
	now        int64 // when it was read
}

// limit returns the quota as a claim at the time of its reading would see it.
func (q *quota) limit() dispatch.Limit {
	limit := limitOf(&q.Quota)
	limit.Used, limit.Tokens = q.running, q.tokens
	limit.Refill(micros(q.now - q.refilledAt))
	return limit
}

// limitOf returns a limit whose use is not known yet.
func limitOf(q *sqlstore.Quota) dispatch.Limit {
	return dispatch.Limit{ID: q.ID, Cap: q.Rule.MaxRunning, Min: q.Min, Rate: q.Rule.Rate, Burst: q.Rule.Burst}
}

// readQuotas returns all limits, including removed ones.
func readQuotas(ctx context.Context, q querier, statement string) (quotas []*quota, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		q := &quota{}
		quotas = append(quotas, q)
		return row.Scan(&q.ID, &q.Rule.Scope, &q.Rule.Name, &q.Rule.MaxRunning, &q.Min, &q.Rule.Rate, &q.Rule.Burst,
			&q.Rule.PerKey, &q.running, &q.freed, &q.tokens, &q.refilledAt, &q.now)
	}, statement)
	return quotas, err
}

func plainQuotas(quotas []*quota) []*sqlstore.Quota {
	plain := make([]*sqlstore.Quota, len(quotas))
	for i, q := range quotas {
		plain[i] = &q.Quota
	}
	return plain
}

// ruleChange is a change of tenants and limits, under the lock of the rules.
type ruleChange struct {
	*txn
	sqlstore.DB
	version, now int64
	parents      map[string]string
	quotas       []*quota
	reholds      bool // whether running jobs now count against other limits
}

// rule changes tenants and limits.
func (s *Store) rule(ctx context.Context, verb string, change func(ctx context.Context, r *ruleChange) error) error {
	defer s.pending.Forget()
	return s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		version, err := t.changeRules(ctx)
		if err != nil {
			return err
		}
		r := &ruleChange{txn: t, DB: t.db(), version: version}
		if err := change(ctx, r); err != nil {
			return err
		}
		if err := r.Flush(ctx); err != nil || !r.reholds {
			return err
		}
		_, err = r.rehold(ctx)
		return err
	})
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
	family := sqlstore.Family{Parents: r.parents}
	for _, q := range r.quotas {
		switch {
		case q.Rule.Scope == fairlead.LimitGlobal:
			family.GlobalCap = q.Rule.MaxRunning
		case q.Rule.Scope != fairlead.LimitTenant || q.Rule.Name != except:
			family.Minimums += q.Min
		}
	}
	return family
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
		return r.must(ctx, 1, r.sql.SetQuota, rule.MaxRunning, least, rule.Rate, rule.Burst, rule.PerKey, q.tokens, q.refilledAt, q.ID)
	}
	if !q.Active() && rule.PerKey == 0 {
		return nil // it never existed
	}
	result, err := r.tx.ExecContext(ctx, r.sql.AddQuota, string(rule.Scope), rule.Name, rule.MaxRunning, least, rule.Rate, rule.Burst, rule.PerKey, q.tokens, q.refilledAt)
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
