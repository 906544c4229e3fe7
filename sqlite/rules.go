package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ruleBook keeps the rules as they were last read. It belongs to the writer.
type ruleBook struct {
	rules *sqlstore.Rules // nil: to be read
}

// forget makes the next claim read the rules.
func (b *ruleBook) forget() { b.rules = nil }

// rules are what is paused and limited now.
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
	pauses, err := t.pauses()
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
	list := make([]*sqlstore.Quota, len(quotas))
	for i := range quotas {
		list[i] = &quotas[i].Quota
	}
	t.book.rules = sqlstore.NewRules(version, pauses, parents, list)
	t.capped.Store(len(t.book.rules.Quotas) > 0)
	return t.book.rules, nil
}

// changeRules counts a change on and returns the new version. Nodes are woken:
// more may be allowed now.
func (t *txn) changeRules() (int64, error) {
	t.news.all = true
	return t.next(rulesCounter, 1)
}

// freed tells that jobs left running or waiting: somebody may have waited for
// their slots.
func (t *txn) freed() {
	if t.capped.Load() {
		t.news.freed = true
	}
}

// parents names the parent of every declared tenant, empty if it has none.
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

// quota is a limit with what is saved up of its rate.
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
		return row.Scan(&q.ID, &q.Rule.Scope, &q.Rule.Name, &q.Rule.MaxRunning, &q.Min, &q.Rule.Rate, &q.Rule.Burst, &q.Rule.PerKey, &q.tokens, &q.refilledAt)
	})
	return quotas, err
}

// putQuota sets what bounds a scope.
func (t *txn) putQuota(limit fairlead.Limit, least int) error {
	return t.must(1, t.sql.PutQuota, string(limit.Scope), limit.Name, limit.MaxRunning, least, limit.Rate, limit.Burst, limit.PerKey, t.now)
}
