package sqlstore

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// limitData contains the data from which a LimitConfig is built, either as read or as it would be
// after a change. Stores save changes with statements of their own; storetest checks that
// both give the same results.
type limitData struct {
	pauses  []fairlead.Pause
	parents map[string]string // every declared tenant → its parent or ""
	weights map[string]int
	rows    []*limitRow
	now     int64
}

// limitRow is a limit with the tokens that its rate has accumulated.
type limitRow struct {
	StoredLimit
	tokens     float64
	refilledAt int64
}

// copy returns data that can be changed independently. Its limits must be replaced, not
// modified.
func (s *limitData) copy() *limitData {
	return &limitData{
		pauses: slices.Clone(s.pauses), parents: maps.Clone(s.parents), weights: maps.Clone(s.weights), rows: slices.Clone(s.rows), now: s.now,
	}
}

// config returns the LimitConfig that claims would use.
func (s *limitData) config() *LimitConfig {
	const unnumbered = 0
	return NewLimitConfig(unnumbered, s.pauses, s.parents, PlainLimits(s.rows)).Weighed(s.weights)
}

// family returns the family constraints for all tenants except one.
func (s *limitData) family(except string) Family {
	return NewFamily(s.parents, PlainLimits(s.rows), except)
}

// limits returns the limits as a claim would see them, by ID, given how many jobs of each
// lane hold them.
func (s *limitData) limits(config *LimitConfig, held map[LaneKey]int) map[int32]*dispatch.Limit {
	limits := make(map[int32]*dispatch.Limit, len(config.ByID))
	for _, q := range s.rows {
		if _, active := config.ByID[q.ID]; active {
			limit := LimitOf(&q.StoredLimit)
			limit.Tokens = q.tokens
			limit.Refill(time.Duration(s.now-q.refilledAt) * time.Microsecond)
			limits[q.ID] = &limit
		}
	}
	for lane, jobs := range held {
		for _, id := range config.Of(lane) {
			limits[id].Used += jobs
		}
	}
	return limits
}

// setLimit applies SetLimit to the sheet.
func (s *limitData) setLimit(limit fairlead.Limit) error {
	if err := CheckGlobalCap(limit, s.family("").Minimums); err != nil {
		return err
	}
	s.putLimit(limit, 0)
	return nil
}

// putTenant applies PutTenant to the sheet for a tenant whose declared version is version,
// if it is declared.
func (s *limitData) putTenant(tenant fairlead.Tenant, version int64) error {
	_, declared := s.parents[tenant.Name]
	if err := checkVersion(tenant, version, declared); err != nil {
		return err
	}
	if err := s.family(tenant.Name).check(&tenant); err != nil {
		return err
	}
	s.parents[tenant.Name], s.weights[tenant.Name] = tenant.Parent, tenant.Weight
	s.putLimit(tenant.Limit(), tenant.MinRunning)
	pause := fairlead.Pause{Scope: fairlead.PauseTenant, Name: tenant.Name}
	same := func(other fairlead.Pause) bool { return unexplained(other) == pause }
	switch {
	case !tenant.Paused:
		s.pauses = slices.DeleteFunc(s.pauses, same)
	case !slices.ContainsFunc(s.pauses, same): // an earlier pause keeps its reason
		s.pauses = append(s.pauses, pause)
	}
	return nil
}

// putLimit sets the limit of a scope. A changed rate starts with a full burst.
func (s *limitData) putLimit(limit fairlead.Limit, least int) {
	changed := &limitRow{StoredLimit: StoredLimit{ID: 1, Min: least, Limit: limit}, tokens: float64(limit.Burst), refilledAt: s.now}
	for i, q := range s.rows {
		if q.Limit.Scope == limit.Scope && q.Limit.Name == limit.Name {
			changed.ID = q.ID
			if q.Limit.Rate == limit.Rate && q.Limit.Burst == limit.Burst {
				changed.tokens, changed.refilledAt = q.tokens, q.refilledAt
			}
			s.rows[i] = changed
			return
		}
		changed.ID = max(changed.ID, q.ID+1)
	}
	s.rows = append(s.rows, changed)
}
