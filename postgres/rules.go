package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ruleBook caches what is paused and limited. A claim sends the version of the rules it
// used and gets no jobs if they have changed, so a stale book does no harm.
type ruleBook struct {
	current atomic.Pointer[rules]
}

// rules are the rules of one version, with what they mean for lanes.
type rules struct {
	*sqlstore.Rules
	holds sync.Map // sqlstore.Lane → *hold
	open  sqlstore.ScopeCache[openList]
}

// hold is the quotas that the jobs of a lane count against.
type hold struct {
	quotas []int32 // in order
	name   string  // as in running.held
	tenant int32   // the tenant's own quota; zero: it has none
	shared []int32 // the quotas that are not of tenants
}

// nameOrNull returns the name as in running.held, null for no quotas.
func (h *hold) nameOrNull() *string {
	if h == nil {
		return nil
	}
	return &h.name
}

// hold returns the quotas that jobs of a lane count against, or nil if there are none.
func (r *rules) hold(lane sqlstore.Lane) *hold {
	if len(r.Quotas) == 0 {
		return nil
	}
	if known, ok := r.holds.Load(lane); ok {
		return known.(*hold)
	}
	var h *hold
	if quotas := r.Of(lane.LaneKey); len(quotas) > 0 {
		tenant, _ := r.Tenant(lane.LaneKey)
		shared := slices.DeleteFunc(slices.Clone(quotas), r.ofTenant)
		h = &hold{quotas: quotas, name: sqlstore.HoldName(quotas), tenant: tenant, shared: shared}
	}
	r.holds.Store(lane, h)
	return h
}

// ofTenant reports whether a quota is a tenant's.
func (r *rules) ofTenant(quota int32) bool { return r.Quotas[quota].Rule.Scope == fairlead.LimitTenant }

// knownRules returns the rules as they were last read.
func (s *Store) knownRules(ctx context.Context) (*rules, error) {
	if known := s.book.current.Load(); known != nil {
		return known, nil
	}
	return s.readRules(ctx)
}

// readRules reads the rules while no change is in progress.
func (s *Store) readRules(ctx context.Context) (*rules, error) {
	reader := ruleReader{}
	err := s.runPinned(ctx, call{sql: s.sql.ShareRules, args: []any{s.rulesLock}}, append(reader.calls(&s.sql), s.numberCall())...)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	read := reader.rules()
	if known := s.book.current.Load(); known != nil && known.Version == read.Version {
		return known, nil
	}
	// A larger version is not always newer: a database may have lost it. If these rules
	// are outdated already, the next claim finds out.
	s.book.current.Store(read)
	return read, nil
}

// ruleReader collects the rules from the tables.
type ruleReader struct {
	version int64
	pauses  []fairlead.Pause
	parents map[string]string
	quotas  []*sqlstore.Quota
	weights map[string]int
}

func (r *ruleReader) rules() *rules {
	return &rules{Rules: sqlstore.NewRules(r.version, r.pauses, r.parents, r.quotas).Weighed(r.weights)}
}

func (r *ruleReader) calls(sql *statements) []call {
	return []call{
		{sql: sql.RulesVersion, each: func(row sqlstore.Scanner) error { return row.Scan(&r.version) }, restart: func() { *r = ruleReader{parents: map[string]string{}, weights: map[string]int{}} }},
		{sql: sql.Pauses, each: func(row sqlstore.Scanner) error {
			pause, err := sqlstore.ScanPause(row)
			r.pauses = append(r.pauses, pause)
			return err
		}},
		{sql: sql.Parents, each: func(row sqlstore.Scanner) error {
			var name, parent string
			err := row.Scan(&name, &parent)
			if parent != "" {
				r.parents[name] = parent
			}
			return err
		}},
		{sql: sql.Weights, each: func(row sqlstore.Scanner) error { return sqlstore.ScanWeight(row, r.weights) }},
		readQuotas(sql, &r.quotas),
	}
}

// readQuotas reads the limits that are set.
func readQuotas(sql *statements, quotas *[]*sqlstore.Quota) call {
	return call{sql: sql.Quotas, each: func(row sqlstore.Scanner) error {
		q := &sqlstore.Quota{}
		*quotas = append(*quotas, q)
		return row.Scan(&q.ID, &q.Rule.Scope, &q.Rule.Name, &q.Rule.MaxRunning, &q.Min, &q.Rule.Rate, &q.Rule.Burst, &q.Rule.PerKey, &q.Rule.Order)
	}}
}
