package dispatch

import "math"

// startCost is what a start costs a tenant of weight one. All weights up to 22 divide it, so
// that tenants who have had what their weights entitle them to have had the same.
const startCost = 232_792_560

// costOf is what a start costs by weight. It is a whole number, of which sums are exact: jobs
// that several claims take one after the other are those that one claim takes.
func costOf(weight int) float64 { return max(1, math.Round(startCost/float64(max(1, weight)))) }

// Share is what a tenant gets of the starts of a fair scope: a queue, or all queues that
// follow the cluster's order. Tenants share the starts of their family, which are those
// with the same parent, and families share the starts of the scope.
type Share struct {
	Weight int     // beside others of the same whole; less than one counts as one
	Had    float64 // starts times their Cost, since others of the same whole had none
	Of     *Share  // the whole: of a tenant its family, of a family the scope; nil: it is the scope

	party Party // of a tenant
}

// Cost is how much more the share has had after a start.
func (s *Share) Cost() float64 { return costOf(s.Weight) }

// Party is the tenant of a lane in a fair scope.
type Party struct {
	Scope  string // the queue, empty for all that follow the cluster's order
	Tenant string
	Family string // the tenant's parent, or the tenant itself

	Weight, FamilyWeight int
}

// runnable reports whether the lane has a job that could start, as far as is known. A
// lane that was not read may have: its tenant must not lose what it is behind by.
func (l *Lane) runnable() bool {
	for _, limit := range l.Limits {
		if limit.Room() <= 0 {
			return false
		}
	}
	return len(l.Keys) > 0 || !l.All
}
