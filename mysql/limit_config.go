package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitConfig contains one version of the limits, with what they mean for lanes.
type limitConfig struct {
	*sqlstore.LimitConfig
	open sqlstore.ScopeCache[openList]
}

// limitsOfVersion returns the limits of a locked version.
func (t *txn) limitsOfVersion(ctx context.Context, version int64) (*limitConfig, error) {
	if known := t.limitConfig.Load(); known != nil && known.Version == version {
		return known, nil
	}
	read, err := t.readLimits(ctx, version)
	if err != nil {
		return nil, err
	}
	known := &limitConfig{LimitConfig: read}
	t.limitConfig.Store(known)
	return known, nil
}

// readLimits reads the limits of a version.
func (t *txn) readLimits(ctx context.Context, version int64) (*sqlstore.LimitConfig, error) {
	pauses, err := sqlstore.ReadPauses(ctx, t.db(), &t.sql.PauseStatements)
	if err != nil {
		return nil, err
	}
	parents, err := t.parents(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := readLimitRows(ctx, t.tx, t.sql.LimitRows)
	if err != nil {
		return nil, err
	}
	weights, err := sqlstore.ReadWeights(ctx, t.db(), &t.sql.TenantStatements)
	if err != nil {
		return nil, err
	}
	return sqlstore.NewLimitConfig(version, pauses, parents, sqlstore.PlainLimits(limits)).Weighed(weights), nil
}

// beginLimitChange begins a change of the limits and returns their new version. No claim runs
// until the transaction ends. Nodes are then woken, because the new limits may allow
// more.
func (t *txn) beginLimitChange(ctx context.Context) (int64, error) {
	result, err := t.tx.ExecContext(ctx, t.sql.ChangeLimits, sqlstore.VersionStep())
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

// limitRow is a limit with its use.
type limitRow struct {
	sqlstore.StoredLimit
	running    int // jobs that count against it
	freed      int // slots given back that are not subtracted yet
	tokens     float64
	refilledAt int64
	now        int64 // when it was read
}

// limit returns the limit as a claim at the time of its reading would see it.
func (q *limitRow) limit() dispatch.Limit {
	limit := sqlstore.LimitOf(&q.StoredLimit)
	limit.Used, limit.Tokens = q.running, q.tokens
	limit.Refill(micros(q.now - q.refilledAt))
	return limit
}

// readLimitRows returns all limits, including removed ones.
func readLimitRows(ctx context.Context, q querier, statement string) (limits []*limitRow, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		q := &limitRow{}
		limits = append(limits, q)
		return row.Scan(&q.ID, &q.Limit.Scope, &q.Limit.Name, &q.Limit.MaxRunning, &q.Min, &q.Limit.Rate, &q.Limit.Burst,
			&q.Limit.PerKey, &q.Limit.Order, &q.running, &q.freed, &q.tokens, &q.refilledAt, &q.now)
	}, statement)
	return limits, err
}
