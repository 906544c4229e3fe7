package sqlite

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// SetLimit sets or removes the limit of a scope. It returns ErrInvalid if limit is a global
// cap below the sum of all tenants' minimums.
func (s *Store) SetLimit(ctx context.Context, limit fairlead.Limit) error {
	return s.setLimit(ctx, limit, nil)
}

// SetLimitSeen works like SetLimit, but returns ErrConflict if the limit no longer equals
// seen, the limit that the caller has read.
func (s *Store) SetLimitSeen(ctx context.Context, limit, seen fairlead.Limit) error {
	return s.setLimit(ctx, limit, &seen)
}

func (s *Store) setLimit(ctx context.Context, limit fairlead.Limit, seen *fairlead.Limit) error {
	_, err := inTx(ctx, s, "set limit", func(t *txn) (none, error) {
		rows, err := t.limitRows()
		if err == nil && seen != nil {
			err = sqlstore.CheckSeenLimit(*seen, sqlstore.PlainLimits(rows))
		}
		if err != nil {
			return none{}, err
		}
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
		if _, err := t.beginLimitChange(); err != nil {
			return none{}, err
		}
		return none{}, t.putLimit(limit, 0)
	})
	return err
}

// Limits lists all limits with their current usage.
func (s *Store) Limits(ctx context.Context) ([]fairlead.LimitUse, error) {
	return inTx(ctx, s, "list limits", func(t *txn) ([]fairlead.LimitUse, error) { // one snapshot for all
		limits, err := t.limits()
		if err != nil {
			return nil, err
		}
		rows, err := t.limitRows()
		if err != nil {
			return nil, err
		}
		var uses []fairlead.LimitUse
		for _, q := range rows {
			use := fairlead.LimitUse{Limit: q.Limit, MinRunning: q.Min}
			if limit := limits[q.ID]; limit != nil {
				use.Running, use.Tokens = limit.Used, limit.Tokens
			}
			uses = append(uses, use)
		}
		sqlstore.SortLimits(uses)
		return uses, nil
	})
}

// limits are all limits as they stand now, by id. They are the writer's own: the
// next call changes them.
func (t *txn) limits() (map[int32]*dispatch.Limit, error) {
	if _, err := t.config(); err != nil {
		return nil, err
	}
	limits := t.limitCache.limits
	if len(limits) == 0 {
		return nil, nil
	}
	if err := t.refill(limits); err != nil {
		return nil, err
	}
	for _, limit := range limits {
		limit.Used = 0
	}
	return limits, t.each(t.sql.InUse, nil, func(row sqlstore.Scanner) error {
		var lane int32
		var jobs int
		if err := row.Scan(&lane, &jobs); err != nil {
			return err
		}
		under, err := t.limitsOf(lane)
		for _, limit := range under.all {
			limit.Used += jobs
		}
		return err
	})
}

// limitsOf are the limits of a lane of which the id is known.
func (t *txn) limitsOf(id int32) (laneLimits, error) {
	key, err := t.laneNamed(id)
	return t.limitCache.of(sqlstore.Lane{ID: id, LaneKey: key}), err
}

// refill finds out how many starts are saved up.
func (t *txn) refill(limits map[int32]*dispatch.Limit) error {
	if !t.limitCache.rated {
		return nil
	}
	return t.each(t.sql.SavedStarts, nil, func(row sqlstore.Scanner) error {
		var id int32
		var tokens float64
		var refilledAt int64
		err := row.Scan(&id, &tokens, &refilledAt)
		if limit := limits[id]; limit != nil {
			limit.Tokens = tokens
			limit.Refill(time.Duration(t.now-refilledAt) * time.Microsecond)
		}
		return err
	})
}
