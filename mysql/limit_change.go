package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitChange is a change of tenants and limits, while no claim runs.
type limitChange struct {
	*txn
	sqlstore.DB
	version, now int64
	parents      map[string]string
	rows         []*limitRow
	reholds      bool // whether running jobs now count against other limits
	left         bool // a job still counts against other limits, because another transaction holds it
}

// inLimitChange changes tenants and limits.
func (s *Store) inLimitChange(ctx context.Context, verb string, change func(ctx context.Context, r *limitChange) error) error {
	defer s.pending.Forget()
	var r *limitChange
	err := s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		version, err := t.beginLimitChange(ctx)
		if err != nil {
			return err
		}
		r = &limitChange{txn: t, DB: t.db(), version: version}
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

// reholdAll makes every running and waiting job count against the current limits, and returns the
// counts that were wrong.
func (s *Store) reholdAll(ctx context.Context, verb string) (drift []driver.Drift, err error) {
	var r *limitChange
	err = s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		r = &limitChange{txn: t}
		if _, err := t.one(ctx, []any{&r.version}, t.sql.LockLimitsVersion); err != nil {
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

// reholdLeft moves the jobs to their new limits that another transaction held when those
// changed.
func (s *Store) reholdLeft(ctx context.Context) error {
	if !s.reholding.Due() {
		return nil
	}
	_, err := s.reholdAll(ctx, "count against changed limits")
	return err
}

// read reads the limits before the change.
func (r *limitChange) read(ctx context.Context) (err error) {
	if r.now, err = r.clock(ctx); err != nil {
		return err
	}
	if r.parents, err = r.txn.parents(ctx); err != nil {
		return err
	}
	r.rows, err = readLimitRows(ctx, r.tx, r.sql.LimitRows)
	return err
}

// Version implements sqlstore.LimitChange.
func (r *limitChange) Version() int64 { return r.version }

// Family implements sqlstore.LimitChange.
func (r *limitChange) Family(ctx context.Context, name, _ string) (sqlstore.Family, error) {
	if err := r.read(ctx); err != nil {
		return sqlstore.Family{}, err
	}
	return r.family(name), nil
}

// Adopt implements sqlstore.LimitChange.
func (r *limitChange) Adopt(name, parent string) { r.parents[name], r.reholds = parent, true }

// PutLimit implements sqlstore.LimitChange. A rate that differs starts with its burst.
func (r *limitChange) PutLimit(ctx context.Context, limit fairlead.Limit, least int, _ []string) error {
	if err := r.Flush(ctx); err != nil {
		return err
	}
	return r.putLimit(ctx, limit, least)
}

// family holds the facts about the other tenants.
func (r *limitChange) family(except string) sqlstore.Family {
	return sqlstore.NewFamily(r.parents, sqlstore.PlainLimits(r.rows), except)
}

// putLimit sets the limit of a scope. A changed rate starts with a full burst.
func (r *limitChange) putLimit(ctx context.Context, limit fairlead.Limit, least int) error {
	q := r.rowOf(limit)
	was, places := q.Active(), max(q.Limit.PerKey, 1)
	if q.Limit.Rate != limit.Rate || q.Limit.Burst != limit.Burst {
		q.tokens, q.refilledAt = float64(limit.Burst), r.now
	}
	q.Limit, q.Min = limit, least
	if was != q.Active() {
		r.reholds = true
	}
	if limit.PerKey > places {
		if err := r.widen(ctx, limit.Name); err != nil {
			return err
		}
	}
	if q.ID != 0 {
		return r.must(ctx, 1, r.sql.StoreLimit, limit.MaxRunning, least, limit.Rate, limit.Burst, limit.PerKey, string(limit.Order), q.tokens, q.refilledAt, q.ID)
	}
	if !q.Set() {
		return nil // it never existed
	}
	result, err := r.tx.ExecContext(ctx, r.sql.AddLimit, string(limit.Scope), limit.Name, limit.MaxRunning, least, limit.Rate, limit.Burst, limit.PerKey, string(limit.Order), q.tokens, q.refilledAt)
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	q.ID = int32(id)
	r.rows = append(r.rows, q)
	return err
}

// rowOf returns the row of a limit, or a new one.
func (r *limitChange) rowOf(limit fairlead.Limit) *limitRow {
	for _, q := range r.rows {
		if q.Limit.Scope == limit.Scope && q.Limit.Name == limit.Name {
			return q
		}
	}
	return &limitRow{now: r.now}
}
