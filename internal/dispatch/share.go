package dispatch

import "math"

// startCost is the cost of a start for a tenant of weight one. It is divisible by all
// weights up to 22, so that tenants with exactly the starts that their weights entitle them
// to have equal sums.
const startCost = 232_792_560

// costOf returns the cost of a start by weight. It is an integer, so that sums are exact:
// several successive claims take the same jobs as a single one.
func costOf(weight int) float64 { return max(1, math.Round(startCost/float64(max(1, weight)))) }

// Share is a tenant's share of the starts in a fair scope. A fair scope is either a queue,
// or all queues that follow the cluster's order. A family consists of the tenants with the
// same parent. Tenants share their family's starts, and families share the scope's starts.
type Share struct {
	Weight int     // relative to others of the same whole; less than one counts as one
	Had    float64 // starts times their Cost, since others of the same whole had none
	Of     *Share  // the whole: for a tenant its family, for a family the scope; nil for the scope itself

	party Party // for tenants
}

// Cost returns the amount by which a start increases Had.
func (s *Share) Cost() float64 { return costOf(s.Weight) }

// Party identifies a lane's tenant within a fair scope.
type Party struct {
	Scope  string // the queue, or empty for all queues that follow the cluster's order
	Tenant string
	Family string // parent of the tenant, or the tenant itself

	Weight, FamilyWeight int
}

// runnable reports whether the lane has a job that could start, as far as is known. A lane
// that was not read may have one: its tenant must not lose its arrears.
func (l *Lane) runnable() bool {
	for _, limit := range l.Limits {
		if limit.Room() <= 0 {
			return false
		}
	}
	return len(l.Keys) > 0 || !l.All
}
