package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// orders holds the start orders of queues and the weights by which tenants share starts.
type orders struct {
	cluster fairlead.Order
	queues  map[string]fairlead.Order // queues with their own order
	weights map[string]int
	fair    bool // at least one order is fair
}

// add applies the order of a limit.
func (o *orders) add(limit fairlead.Limit) {
	if limit.Order == "" {
		return
	}
	if limit.Scope == fairlead.LimitQueue {
		o.queues[limit.Name] = limit.Order
	} else {
		o.cluster = limit.Order
	}
	o.fair = o.fair || limit.Order == fairlead.OrderFair
}

// Weighed sets the tenants' weights in a newly built LimitConfig and returns it.
func (r *LimitConfig) Weighed(weights map[string]int) *LimitConfig {
	r.orders.weights = weights
	return r
}

// Fair reports whether tenants share the starts of any queue by weight.
func (r *LimitConfig) Fair() bool { return r.orders.fair }

// Party returns the party that a lane belongs to when tenants share starts by weight. fair is
// false if jobs in the lane's queue start by deadline.
func (r *LimitConfig) Party(lane LaneKey) (party dispatch.Party, fair bool) {
	if !r.orders.fair {
		return party, false
	}
	order, own := r.orders.queues[lane.Queue]
	if !own {
		return r.partyIn(wholeCluster, lane.Tenant), r.orders.cluster == fairlead.OrderFair
	}
	return r.partyIn(lane.Queue, lane.Tenant), order == fairlead.OrderFair
}

// wholeCluster is the scope of all queues without their own order. It cannot collide with a
// queue, because every queue has a name.
const wholeCluster = ""

// partyIn returns the party of a tenant in a scope.
func (r *LimitConfig) partyIn(scope, tenant string) dispatch.Party {
	family := r.parents[tenant]
	if family == "" {
		family = tenant
	}
	return dispatch.Party{
		Scope: scope, Tenant: tenant, Family: family,
		Weight: max(1, r.orders.weights[tenant]), FamilyWeight: max(1, r.orders.weights[family]),
	}
}

// ReadWeights reads the weights of all tenants that have one.
func ReadWeights(ctx context.Context, db DB, sql *TenantStatements) (map[string]int, error) {
	weights := map[string]int{}
	err := db.Each(ctx, func(row Scanner) error { return ScanWeight(row, weights) }, sql.Weights)
	return weights, err
}

// ScanWeight reads a tenant's weight from a row.
func ScanWeight(row Scanner, into map[string]int) error {
	var tenant string
	var weight int
	err := row.Scan(&tenant, &weight)
	into[tenant] = weight
	return err
}
