package sqlstore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// StoredLimit is a limit in its stored form. Claims count the limit's usage in the same row.
type StoredLimit struct {
	ID    int32
	Min   int // minimum of a tenant
	Limit fairlead.Limit
}

// Active reports whether jobs count against the limit. An inactive limit keeps its row, so its
// ID is never reused.
func (q *StoredLimit) Active() bool { return q.Limit.MaxRunning > 0 || q.Limit.Rate > 0 || q.Min > 0 }

// Set reports whether the limit has any effect, even if no job counts against it.
func (q *StoredLimit) Set() bool { return q.Active() || q.Limit.PerKey > 0 || q.Limit.Order != "" }

// Plain returns the limit without the fields that a particular store adds.
func (q *StoredLimit) Plain() *StoredLimit { return q }

// PlainLimits returns the limits without the fields that a particular store adds.
func PlainLimits[Q interface{ Plain() *StoredLimit }](limits []Q) []*StoredLimit {
	plain := make([]*StoredLimit, len(limits))
	for i, q := range limits {
		plain[i] = q.Plain()
	}
	return plain
}

// LimitOf converts a limit to the form that claims use. The result has no usage yet.
func LimitOf(q *StoredLimit) dispatch.Limit {
	return dispatch.Limit{ID: q.ID, Cap: q.Limit.MaxRunning, Min: q.Min, Rate: q.Limit.Rate, Burst: q.Limit.Burst}
}

// LimitConfig contains one version of the limits and pauses, and of the tenants and orders
// that belong to them. It is immutable. Claims look it up by lane.
type LimitConfig struct {
	Version int64
	ByID    map[int32]*StoredLimit // active limits only

	pauses  map[fairlead.Pause]string // pause without its reason → reason
	parents map[string]string         // tenant → parent
	byName  map[limitName]int32
	perKey  map[string]int // kind → places of each of its gates, if set
	orders  orders
}

type limitName struct {
	scope fairlead.LimitScope
	name  string
}

// NewLimitConfig builds a LimitConfig from the data that a store has read. From inactive limits, it keeps
// only PerKey and Order. parents maps each tenant that has a parent to the parent.
func NewLimitConfig(version int64, pauses []fairlead.Pause, parents map[string]string, limits []*StoredLimit) *LimitConfig {
	r := &LimitConfig{
		Version: version, ByID: map[int32]*StoredLimit{},
		pauses: map[fairlead.Pause]string{}, parents: parents, byName: map[limitName]int32{}, perKey: map[string]int{},
		orders: orders{queues: map[string]fairlead.Order{}},
	}
	for _, pause := range pauses {
		r.pauses[unexplained(pause)] = pause.Reason
	}
	for _, q := range limits {
		if q.Limit.PerKey > 0 {
			r.perKey[q.Limit.Name] = q.Limit.PerKey
		}
		r.orders.add(q.Limit)
		if q.Active() {
			r.ByID[q.ID] = q
			r.byName[limitName{q.Limit.Scope, q.Limit.Name}] = q.ID
		}
	}
	return r
}

// Places returns the number of jobs that each gate of the kind admits.
func (r *LimitConfig) Places(kind string) int { return max(r.perKey[kind], 1) }

// Paused reports whether a pause keeps the lane's jobs from starting.
func (r *LimitConfig) Paused(lane LaneKey) bool { return len(r.PausesOf(lane)) > 0 }

// PausesOf returns the pauses that keep the lane's jobs from starting.
func (r *LimitConfig) PausesOf(lane LaneKey) (found []fairlead.Pause) {
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

// Of returns the IDs of the limits that the lane's jobs count against, in ascending order.
func (r *LimitConfig) Of(lane LaneKey) []int32 {
	if len(r.ByID) == 0 {
		return nil
	}
	var ids []int32
	for _, limit := range []limitName{
		{fairlead.LimitGlobal, ""},
		{fairlead.LimitQueue, lane.Queue},
		{fairlead.LimitKind, lane.Kind},
		{fairlead.LimitTenant, lane.Tenant},
		{fairlead.LimitTenant, r.parents[lane.Tenant]},
	} {
		if id, limited := r.byName[limit]; limited {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Tenant returns the ID of the limit of the lane's own tenant. limited is false if the tenant
// has no limit.
func (r *LimitConfig) Tenant(lane LaneKey) (id int32, limited bool) {
	id, limited = r.byName[limitName{fairlead.LimitTenant, lane.Tenant}]
	return id, limited
}

// HoldName returns the name of a set of limits with the given IDs. ids must be sorted.
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

// Pauses reports whether there is any pause.
func (r *LimitConfig) Pauses() bool { return len(r.pauses) > 0 }
