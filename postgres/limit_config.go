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

// limitCache caches what is paused and limited. A claim sends the version of the limits it
// used and gets no jobs if they have changed, so a stale cache does no harm.
type limitCache struct {
	current atomic.Pointer[limitConfig]
}

// limitConfig contains one version of the limits, with what they mean for lanes.
type limitConfig struct {
	*sqlstore.LimitConfig
	holds sync.Map // sqlstore.Lane → *hold
	open  sqlstore.ScopeCache[openList]
}

// hold is the limits that the jobs of a lane count against.
type hold struct {
	limits []int32 // in order
	name   string  // as in running.held
	tenant int32   // the tenant's own limit; zero: it has none
	shared []int32 // the limits that are not of tenants
}

// nameOrNull returns the name as in running.held, null for no limits.
func (h *hold) nameOrNull() *string {
	if h == nil {
		return nil
	}
	return &h.name
}

// hold returns the limits that jobs of a lane count against, or nil if there are none.
func (r *limitConfig) hold(lane sqlstore.Lane) *hold {
	if len(r.ByID) == 0 {
		return nil
	}
	if known, ok := r.holds.Load(lane); ok {
		return known.(*hold)
	}
	var h *hold
	if limits := r.Of(lane.LaneKey); len(limits) > 0 {
		tenant, _ := r.Tenant(lane.LaneKey)
		shared := slices.DeleteFunc(slices.Clone(limits), r.ofTenant)
		h = &hold{limits: limits, name: sqlstore.HoldName(limits), tenant: tenant, shared: shared}
	}
	r.holds.Store(lane, h)
	return h
}

// ofTenant reports whether a limit is a tenant's.
func (r *limitConfig) ofTenant(limit int32) bool {
	return r.ByID[limit].Limit.Scope == fairlead.LimitTenant
}

// knownLimits returns the limits as they were last read.
func (s *Store) knownLimits(ctx context.Context) (*limitConfig, error) {
	if known := s.limitCache.current.Load(); known != nil {
		return known, nil
	}
	return s.readLimits(ctx)
}

// readLimits reads the limits while no change is in progress.
func (s *Store) readLimits(ctx context.Context) (*limitConfig, error) {
	reader := limitReader{}
	err := s.runPinned(ctx, call{sql: s.sql.ShareLimits, args: []any{s.limitsLock}}, append(reader.calls(&s.sql), s.numberCall())...)
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	read := reader.config()
	if known := s.limitCache.current.Load(); known != nil && known.Version == read.Version {
		return known, nil
	}
	// A larger version is not always newer: a database may have lost it. If these limits
	// are outdated already, the next claim finds out.
	s.limitCache.current.Store(read)
	return read, nil
}

// limitReader collects the limits from the tables.
type limitReader struct {
	version int64
	pauses  []fairlead.Pause
	parents map[string]string
	limits  []*sqlstore.StoredLimit
	weights map[string]int
}

func (r *limitReader) config() *limitConfig {
	return &limitConfig{LimitConfig: sqlstore.NewLimitConfig(r.version, r.pauses, r.parents, r.limits).Weighed(r.weights)}
}

func (r *limitReader) calls(sql *statements) []call {
	return []call{
		{sql: sql.LimitsVersion, each: func(row sqlstore.Scanner) error { return row.Scan(&r.version) }, restart: func() { *r = limitReader{parents: map[string]string{}, weights: map[string]int{}} }},
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
		readLimitRows(sql, &r.limits),
	}
}

// readLimitRows reads the limits that are set.
func readLimitRows(sql *statements, limits *[]*sqlstore.StoredLimit) call {
	return call{sql: sql.LimitRows, each: func(row sqlstore.Scanner) error {
		q := &sqlstore.StoredLimit{}
		*limits = append(*limits, q)
		return row.Scan(&q.ID, &q.Limit.Scope, &q.Limit.Name, &q.Limit.MaxRunning, &q.Min, &q.Limit.Rate, &q.Limit.Burst, &q.Limit.PerKey, &q.Limit.Order)
	}}
}
