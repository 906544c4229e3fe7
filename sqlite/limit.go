package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// SetLimit sets or removes the limit of a scope.
func (s *Store) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	_, err := write(ctx, s, "set limit", func(t *txn) (none, error) {
		family, err := t.family("")
		if err != nil {
			return none{}, err
		}
		if err := sqlstore.CheckGlobalCap(limit, family.Minimums); err != nil {
			return none{}, err
		}
		if err := t.widen(limit); err != nil {
			return none{}, err
		}
		if _, err := t.changeRules(); err != nil {
			return none{}, err
		}
		return none{}, t.putQuota(limit, 0)
	})
	return err
}

// Limits lists every limit with its use.
func (s *Store) Limits(ctx context.Context) ([]fairlead.LimitUse, error) {
	return write(ctx, s, "list limits", func(t *txn) ([]fairlead.LimitUse, error) { // one snapshot for all
		rules, err := t.rules()
		if err != nil {
			return nil, err
		}
		limits, err := t.limits(rules)
		if err != nil {
			return nil, err
		}
		quotas, err := t.quotas()
		if err != nil {
			return nil, err
		}
		var uses []fairlead.LimitUse
		for _, q := range quotas {
			limit := limits[q.ID]
			use := fairlead.LimitUse{Limit: q.Rule, MinRunning: limit.Min, Running: limit.Used}
			if limit.Rate > 0 {
				use.Tokens = limit.Tokens
			}
			uses = append(uses, use)
		}
		sqlstore.SortLimits(uses)
		return uses, nil
	})
}

// Verify has nothing to correct: the count of running jobs is the only one.
func (s *Store) Verify(context.Context) ([]fairlead.Drift, error) { return nil, nil }

// limits are all limits as they stand now, by id.
func (t *txn) limits(rules *sqlstore.Rules) (map[int32]*dispatch.Limit, error) {
	quotas, err := t.quotas()
	if err != nil {
		return nil, err
	}
	limits := make(map[int32]*dispatch.Limit, len(quotas))
	for _, q := range quotas {
		limit := &dispatch.Limit{ID: q.ID, Cap: q.Rule.MaxRunning, Min: q.Min, Rate: q.Rule.Rate, Burst: q.Rule.Burst, Tokens: q.tokens}
		limit.Refill(time.Duration(t.now-q.refilledAt) * time.Microsecond)
		limits[q.ID] = limit
	}
	err = t.each(t.sql.InUse, nil, func(row sqlstore.Scanner) error {
		var lane int32
		var jobs int
		if err := row.Scan(&lane, &jobs); err != nil {
			return err
		}
		key, err := t.laneNamed(lane)
		if err != nil {
			return err
		}
		for _, id := range rules.Of(key) {
			limits[id].Used += jobs
		}
		return nil
	})
	return limits, err
}
