package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// rules are the rules of one version, with what they mean for lanes.
type rules struct {
	*sqlstore.Rules
	open sqlstore.ScopeCache[openList]
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
	weights, err := sqlstore.ReadWeights(ctx, t.db(), &t.sql.TenantStatements)
	if err != nil {
		return nil, err
	}
	return sqlstore.NewRules(version, pauses, parents, sqlstore.PlainQuotas(quotas)).Weighed(weights), nil
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
	limit := sqlstore.LimitOf(&q.Quota)
	limit.Used, limit.Tokens = q.running, q.tokens
	limit.Refill(micros(q.now - q.refilledAt))
	return limit
}

// readQuotas returns all limits, including removed ones.
func readQuotas(ctx context.Context, q querier, statement string) (quotas []*quota, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		q := &quota{}
		quotas = append(quotas, q)
		return row.Scan(&q.ID, &q.Rule.Scope, &q.Rule.Name, &q.Rule.MaxRunning, &q.Min, &q.Rule.Rate, &q.Rule.Burst,
			&q.Rule.PerKey, &q.Rule.Order, &q.running, &q.freed, &q.tokens, &q.refilledAt, &q.now)
	}, statement)
	return quotas, err
}
