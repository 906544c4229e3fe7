package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ruleBook keeps the rules as they were last read. It belongs to the writer.
type ruleBook struct {
	rules  *sqlstore.Rules              // nil: they have to be read
	limits map[int32]*dispatch.Limit    // by id; txn.limits reads their use
	rated  bool                         // whether one of them has a rate
	under  map[sqlstore.Lane]laneLimits // for lanes that a claim has asked for
}

// laneLimits are the limits that jobs of a lane count against.
type laneLimits struct {
	all    []*dispatch.Limit
	tenant *dispatch.Limit // the tenant's own limit
}

// forget makes the next claim read the rules.
func (b *ruleBook) forget() { *b = ruleBook{} }

// keep replaces the rules and drops what was known of their limits.
func (b *ruleBook) keep(rules *sqlstore.Rules) {
	*b = ruleBook{rules: rules, limits: make(map[int32]*dispatch.Limit, len(rules.Quotas)), under: map[sqlstore.Lane]laneLimits{}}
	for id, q := range rules.Quotas {
		limit := sqlstore.LimitOf(q)
		b.limits[id] = &limit
		b.rated = b.rated || q.Rule.Rate > 0
	}
}

// of returns the limits of a lane.
func (b *ruleBook) of(lane sqlstore.Lane) laneLimits {
	found, known := b.under[lane]
	if known || len(b.limits) == 0 {
		return found
	}
	for _, id := range b.rules.Of(lane.LaneKey) {
		found.all = append(found.all, b.limits[id])
	}
	if id, limited := b.rules.Tenant(lane.LaneKey); limited {
		found.tenant = b.limits[id]
	}
	b.under[lane] = found
	return found
}

// govern puts a lane under its limits.
func (b *ruleBook) govern(governed *dispatch.Lane, lane sqlstore.Lane) {
	limits := b.of(lane)
	governed.Kind, governed.Limits, governed.Tenant = lane.Kind, limits.all, limits.tenant
}

// rules returns what is paused and limited now.
func (t *txn) rules() (*sqlstore.Rules, error) {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return nil, err
		}
	}
	version := t.counters.now[rulesCounter]
	if known := t.book.rules; known != nil && known.Version == version {
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
	quotas, err := t.quotas()
	if err != nil {
		return nil, err
	}
	weights, err := sqlstore.ReadWeights(t.ctx, t.db(), &t.sql.TenantStatements)
	if err != nil {
		return nil, err
	}
	t.book.keep(sqlstore.NewRules(version, pauses, parents, sqlstore.PlainQuotas(quotas)).Weighed(weights))
	t.capped.Store(len(t.book.rules.Quotas) > 0)
	return t.book.rules, nil
}

// changeRules counts a change and returns the new version. It wakes nodes, because the
// new rules may allow more.
func (t *txn) changeRules() (int64, error) {
	t.wakes.all = true
	step := sqlstore.VersionStep()
	before, err := t.next(rulesCounter, step)
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

// quota is a limit, with the saved tokens of its rate.
type quota struct {
	sqlstore.Quota
	tokens     float64
	refilledAt int64
}

func (t *txn) quotas() ([]*quota, error) {
	var quotas []*quota
	err := t.each(t.sql.Quotas, nil, func(row sqlstore.Scanner) error {
		q := &quota{}
		quotas = append(quotas, q)
		return row.Scan(&q.ID, &q.Rule.Scope, &q.Rule.Name, &q.Rule.MaxRunning, &q.Min, &q.Rule.Rate, &q.Rule.Burst, &q.Rule.PerKey, &q.Rule.Order, &q.tokens, &q.refilledAt)
	})
	return quotas, err
}

// putQuota sets the limit of a scope.
func (t *txn) putQuota(limit fairlead.Limit, least int) error {
	return t.must(1, t.sql.PutQuota, string(limit.Scope), limit.Name, limit.MaxRunning, least, limit.Rate, limit.Burst, limit.PerKey, t.now, string(limit.Order))
}
