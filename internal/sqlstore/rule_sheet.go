package sqlstore

import (
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// ruleSheet contains the data from which rules are built, either as read or as it would be
// after a change. Stores save changes with statements of their own; storetest checks that
// both give the same results.
type ruleSheet struct {
	pauses  []fairlead.Pause
	parents map[string]string // every declared tenant → its parent or ""
	weights map[string]int
	quotas  []*standingQuota
	now     int64
}

// standingQuota is a quota with the tokens that its rate has accumulated.
type standingQuota struct {
	Quota
	tokens     float64
	refilledAt int64
}

// copy returns a sheet that can be changed independently. Its quotas must be replaced, not
// modified.
func (s *ruleSheet) copy() *ruleSheet {
	return &ruleSheet{
		pauses: slices.Clone(s.pauses), parents: maps.Clone(s.parents), weights: maps.Clone(s.weights), quotas: slices.Clone(s.quotas), now: s.now,
	}
}

// rules returns the rules that claims use.
func (s *ruleSheet) rules() *Rules {
	const unnumbered = 0
	return NewRules(unnumbered, s.pauses, s.parents, PlainQuotas(s.quotas)).Weighed(s.weights)
}

// family returns the family constraints for all tenants except one.
func (s *ruleSheet) family(except string) Family {
	return NewFamily(s.parents, PlainQuotas(s.quotas), except)
}

// limits returns the limits as a claim would see them, by ID, given how many jobs of each
// lane hold them.
func (s *ruleSheet) limits(rules *Rules, held map[LaneKey]int) map[int32]*dispatch.Limit {
	limits := make(map[int32]*dispatch.Limit, len(rules.Quotas))
	for _, q := range s.quotas {
		if _, active := rules.Quotas[q.ID]; active {
			limit := LimitOf(&q.Quota)
			limit.Tokens = q.tokens
			limit.Refill(time.Duration(s.now-q.refilledAt) * time.Microsecond)
			limits[q.ID] = &limit
		}
	}
	for lane, jobs := range held {
		for _, id := range rules.Of(lane) {
			limits[id].Used += jobs
		}
	}
	return limits
}

// setLimit applies SetLimit to the sheet.
func (s *ruleSheet) setLimit(limit fairlead.Limit) error {
	if err := CheckGlobalCap(limit, s.family("").Minimums); err != nil {
		return err
	}
	s.putQuota(limit, 0)
	return nil
}

// putTenant applies PutTenant to the sheet for a tenant whose declared version is version,
// if it is declared.
func (s *ruleSheet) putTenant(tenant fairlead.Tenant, version int64) error {
	_, declared := s.parents[tenant.Name]
	if err := checkVersion(tenant, version, declared); err != nil {
		return err
	}
	if err := s.family(tenant.Name).check(&tenant); err != nil {
		return err
	}
	s.parents[tenant.Name], s.weights[tenant.Name] = tenant.Parent, tenant.Weight
	s.putQuota(tenant.Limit(), tenant.MinRunning)
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

// putQuota sets the limit of a scope. A changed rate starts with a full burst.
func (s *ruleSheet) putQuota(limit fairlead.Limit, least int) {
	changed := &standingQuota{Quota: Quota{ID: 1, Min: least, Rule: limit}, tokens: float64(limit.Burst), refilledAt: s.now}
	for i, q := range s.quotas {
		if q.Rule.Scope == limit.Scope && q.Rule.Name == limit.Name {
			changed.ID = q.ID
			if q.Rule.Rate == limit.Rate && q.Rule.Burst == limit.Burst {
				changed.tokens, changed.refilledAt = q.tokens, q.refilledAt
			}
			s.quotas[i] = changed
			return
		}
		changed.ID = max(changed.ID, q.ID+1)
	}
	s.quotas = append(s.quotas, changed)
}
