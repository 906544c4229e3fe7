package dispatch

// Share is what a tenant gets of the starts of a fair scope: a queue, or all queues that
// follow the cluster's order. Tenants share the starts of their family, which are those
// with the same parent, and families share the starts of the scope.
type Share struct {
	Weight int     // beside others of the same whole; less than one counts as one
	Had    float64 // starts divided by weight, since others of the same whole had none
	Of     *Share  // the whole: of a tenant its family, of a family the scope; nil: it is the scope

	party Party // of a tenant
}

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
