package sqlstore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// Quota is a limit in its stored form. Claims count the limit's usage in the same row.
type Quota struct {
	ID   int32
	Min  int // minimum of a tenant
	Rule fairlead.Limit
}

// Active reports whether jobs count against the quota. An inactive quota keeps its row, so its
// ID is never reused.
func (q *Quota) Active() bool { return q.Rule.MaxRunning > 0 || q.Rule.Rate > 0 || q.Min > 0 }

// Set reports whether the quota has any effect, even if no job counts against it.
func (q *Quota) Set() bool { return q.Active() || q.Rule.PerKey > 0 || q.Rule.Order != "" }

// Plain returns the quota without the fields that a particular store adds.
func (q *Quota) Plain() *Quota { return q }

// PlainQuotas returns the quotas without the fields that a particular store adds.
func PlainQuotas[Q interface{ Plain() *Quota }](quotas []Q) []*Quota {
	plain := make([]*Quota, len(quotas))
	for i, q := range quotas {
		plain[i] = q.Plain()
	}
	return plain
}

// LimitOf converts a quota to the form that claims use. The result has no usage yet.
func LimitOf(q *Quota) dispatch.Limit {
	return dispatch.Limit{ID: q.ID, Cap: q.Rule.MaxRunning, Min: q.Min, Rate: q.Rule.Rate, Burst: q.Rule.Burst}
}

// Rules contains one version of the pauses and limits. It is immutable.
type Rules struct {
	Version int64
	Quotas  map[int32]*Quota // active quotas only

	pauses  map[fairlead.Pause]string // pause without its reason → reason
	parents map[string]string         // tenant → parent
	byName  map[ruleName]int32
	perKey  map[string]int // kind → places of each of its gates, if set
	orders  orders
}

type ruleName struct {
	scope fairlead.LimitScope
	name  string
}

// NewRules builds rules from the data that a store has read. From inactive quotas, it keeps
// only PerKey and Order. parents maps each tenant that has a parent to the parent.
func NewRules(version int64, pauses []fairlead.Pause, parents map[string]string, quotas []*Quota) *Rules {
	r := &Rules{
		Version: version, Quotas: map[int32]*Quota{},
		pauses: map[fairlead.Pause]string{}, parents: parents, byName: map[ruleName]int32{}, perKey: map[string]int{},
		orders: orders{queues: map[string]fairlead.Order{}},
	}
	for _, pause := range pauses {
		r.pauses[unexplained(pause)] = pause.Reason
	}
	for _, q := range quotas {
		if q.Rule.PerKey > 0 {
			r.perKey[q.Rule.Name] = q.Rule.PerKey
		}
		r.orders.add(q.Rule)
		if q.Active() {
			r.Quotas[q.ID] = q
			r.byName[ruleName{q.Rule.Scope, q.Rule.Name}] = q.ID
		}
	}
	return r
}

// Places returns the number of jobs that each gate of the kind admits.
func (r *Rules) Places(kind string) int { return max(r.perKey[kind], 1) }

// Paused reports whether a pause keeps the lane's jobs from starting.
func (r *Rules) Paused(lane LaneKey) bool { return len(r.PausesOf(lane)) > 0 }

// PausesOf returns the pauses that keep the lane's jobs from starting.
func (r *Rules) PausesOf(lane LaneKey) (found []fairlead.Pause) {
	if len(r.pauses) == 0 {
		return nil
	}
	for _, pause := range [...]fairlead.Pause{
		{Scope: fairlead.PauseQueue, Name: lane.Queue},
		{Scope: fairlead.PauseKind, Name: lane.Kind},
		{Scope: fairlead.PauseTenant, Name: lane.Tenant},
		{Scope: fairlead.PauseTenant, Name: r.parents[lane.Tenant]},
	} {
		if reason, paused := r.pauses[pause]; paused {
			pause.Reason = reason
			found = append(found, pause)
		}
	}
	return found
}

// Of returns the IDs of the quotas that the lane's jobs count against, in ascending order.
func (r *Rules) Of(lane LaneKey) []int32 {
	if len(r.Quotas) == 0 {
		return nil
	}
	var ids []int32
	for _, rule := range []ruleName{
		{fairlead.LimitGlobal, ""},
		{fairlead.LimitQueue, lane.Queue},
		{fairlead.LimitKind, lane.Kind},
		{fairlead.LimitTenant, lane.Tenant},
		{fairlead.LimitTenant, r.parents[lane.Tenant]},
	} {
		if id, limited := r.byName[rule]; limited {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Tenant returns the ID of the quota of the lane's own tenant. limited is false if the tenant
// has no quota.
func (r *Rules) Tenant(lane LaneKey) (id int32, limited bool) {
	id, limited = r.byName[ruleName{fairlead.LimitTenant, lane.Tenant}]
	return id, limited
}

// HoldName returns the name of a set of quotas with the given IDs. ids must be sorted.
func HoldName(ids []int32) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}

// SortLimits sorts limits by scope and name, the order of lists.
func SortLimits(limits []fairlead.LimitUse) {
	slices.SortFunc(limits, func(a, b fairlead.LimitUse) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name))
	})
}

// Pauses reports whether the rules contain any pause.
func (r *Rules) Pauses() bool { return len(r.pauses) > 0 }
