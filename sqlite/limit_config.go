package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitCache keeps the limits as they were last read. It belongs to the writer.
type limitCache struct {
	config *sqlstore.LimitConfig        // nil: they have to be read
	limits map[int32]*dispatch.Limit    // by id; txn.limits reads their use
	rated  bool                         // whether one of them has a rate
	under  map[sqlstore.Lane]laneLimits // for lanes that a claim has asked for
}

// laneLimits are the limits that jobs of a lane count against.
type laneLimits struct {
	all    []*dispatch.Limit
	tenant *dispatch.Limit // the tenant's own limit
}

// forget makes the next claim read the limits.
func (b *limitCache) forget() { *b = limitCache{} }

// keep replaces the limits and drops what was known of the earlier ones.
func (b *limitCache) keep(config *sqlstore.LimitConfig) {
	*b = limitCache{config: config, limits: make(map[int32]*dispatch.Limit, len(config.ByID)), under: map[sqlstore.Lane]laneLimits{}}
	for id, q := range config.ByID {
		limit := sqlstore.LimitOf(q)
		b.limits[id] = &limit
		b.rated = b.rated || q.Limit.Rate > 0
	}
}

// of returns the limits of a lane.
func (b *limitCache) of(lane sqlstore.Lane) laneLimits {
	found, known := b.under[lane]
	if known || len(b.limits) == 0 {
		return found
	}
	for _, id := range b.config.Of(lane.LaneKey) {
		found.all = append(found.all, b.limits[id])
	}
	if id, limited := b.config.Tenant(lane.LaneKey); limited {
		found.tenant = b.limits[id]
	}
	b.under[lane] = found
	return found
}

// addLimits puts a lane under its limits.
func (b *limitCache) addLimits(limited *dispatch.Lane, lane sqlstore.Lane) {
	limits := b.of(lane)
	limited.Kind, limited.Limits, limited.Tenant = lane.Kind, limits.all, limits.tenant
}

// limits returns what is paused and limited now.
func (t *txn) config() (*sqlstore.LimitConfig, error) {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return nil, err
		}
	}
	version := t.counters.now[limitsCounter]
	if known := t.limitCache.config; known != nil && known.Version == version {
		return known, nil
	}
	pauses, err := sqlstore.ReadPauses(t.ctx, t.db(), &t.sql.PauseStatements)
	if err != nil {
		return nil, err
	}
	parents, err := t.parents()
	if err != nil {
		return nil, err
	}
	rows, err := t.limitRows()
	if err != nil {
		return nil, err
	}
	weights, err := sqlstore.ReadWeights(t.ctx, t.db(), &t.sql.TenantStatements)
	if err != nil {
		return nil, err
	}
	t.limitCache.keep(sqlstore.NewLimitConfig(version, pauses, parents, sqlstore.PlainLimits(rows)).Weighed(weights))
	t.capped.Store(len(t.limitCache.config.ByID) > 0)
	return t.limitCache.config, nil
}

// beginLimitChange counts a change and returns the new version. It wakes nodes, because the
// new limits may allow more.
func (t *txn) beginLimitChange() (int64, error) {
	t.wakes.all = true
	step := sqlstore.VersionStep()
	before, err := t.next(limitsCounter, step)
	return before - 1 + step, err
}

// freed records that jobs left running or waiting: other jobs may have waited for their
// slots.
func (t *txn) freed() {
	if t.capped.Load() {
		t.wakes.freed = true
	}
}

// parents returns the parent of every declared tenant, empty if it has none.
func (t *txn) parents() (map[string]string, error) {
	parents := map[string]string{}
	err := t.each(t.sql.Parents, nil, func(row sqlstore.Scanner) error {
		var name, parent string
		err := row.Scan(&name, &parent)
		parents[name] = parent
		return err
	})
	return parents, err
}

// limitRow is a limit with the saved tokens of its rate.
type limitRow struct {
	sqlstore.StoredLimit
	tokens     float64
	refilledAt int64
}

func (t *txn) limitRows() ([]*limitRow, error) {
	var rows []*limitRow
	err := t.each(t.sql.LimitRows, nil, func(row sqlstore.Scanner) error {
		q := &limitRow{}
		rows = append(rows, q)
		return row.Scan(&q.ID, &q.Limit.Scope, &q.Limit.Name, &q.Limit.MaxRunning, &q.Min, &q.Limit.Rate, &q.Limit.Burst, &q.Limit.PerKey, &q.Limit.Order, &q.tokens, &q.refilledAt)
	})
	return rows, err
}

// putLimit sets the limit of a scope.
func (t *txn) putLimit(limit fairlead.Limit, least int) error {
	return t.must(1, t.sql.PutLimit, string(limit.Scope), limit.Name, limit.MaxRunning, least, limit.Rate, limit.Burst, limit.PerKey, t.now, string(limit.Order))
}
