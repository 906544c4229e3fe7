package postgres

import (
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// fairMerge is a claim from lanes that are all of one fair scope and under no limits. The
// database chooses, as fast as by key, because it needs to know no more than what tenants
// have had. A nil one is a claim by key.
type fairMerge struct {
	claim  *sqlstore.FairClaim
	shares map[int32]*dispatch.Share // by lane
	busy   []int32                   // the lanes that have jobs
	before map[int32]bool            // the lanes that had jobs in an earlier claim; nil: unknown
}

// sharesOneScope reports whether the database can choose: no lane is left to others, and
// no kind has less room than the claim.
func (c *claimer) sharesOneScope(all openLanes) bool {
	return !all.mixed && !c.claim.Solo &&
		!slices.ContainsFunc(all.lanes, func(lane openLane) bool { return c.room(lane.Kind) < c.left })
}

func (c *claimer) newFairMerge(known *limitConfig, fair bool, open []openLane) *fairMerge {
	if !fair {
		return nil
	}
	m := &fairMerge{claim: c.Store.fair.Open(c.claim.Node, known.LimitConfig), shares: make(map[int32]*dispatch.Share, len(open))}
	if before := c.merges.busy.Load(); before != nil {
		m.before = *before
	}
	for _, lane := range open {
		m.shares[lane.id] = m.claim.Share(lane.LaneKey)
	}
	return m
}

// statement returns the one that claims.
func (m *fairMerge) statement(merges *mergeState) string {
	tenants := map[*dispatch.Share]*dispatch.Share{} // a tenant by its family
	for _, share := range m.shares {
		if other := tenants[share.Of]; other != nil && other != share {
			return merges.byShare
		}
		tenants[share.Of] = share
	}
	return merges.bySingles
}

// args are what a statement has to know of the tenants of spans.
func (m *fairMerge) args(spans []laneSpan) []any {
	n := len(spans)
	tenants, families := make([]int32, n), make([]int32, n)
	tenantHad, tenantCost, familyHad, familyCost := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	numbers := map[*dispatch.Share]int32{}
	number := func(share *dispatch.Share) int32 {
		if _, known := numbers[share]; !known {
			numbers[share] = int32(len(numbers))
		}
		return numbers[share]
	}
	for i, s := range spans {
		tenant := m.shares[s.lane]
		family := tenant.Of
		tenants[i], tenantHad[i], tenantCost[i] = number(tenant), tenant.Had, tenant.Cost()
		families[i], familyHad[i], familyCost[i] = number(family), family.Had, family.Cost()
	}
	return []any{tenants, tenantHad, tenantCost, families, familyHad, familyCost}
}

// looks returns how many jobs of each span to read first: some more than its tenant gets
// of a number of jobs, if all tenants have jobs that had some before.
func (m *fairMerge) looks(spans []laneSpan, choose int) []int32 {
	weights := map[*dispatch.Share]float64{} // of the parts of a whole
	seen := map[*dispatch.Share]bool{}
	add := func(share *dispatch.Share) {
		if !seen[share] {
			seen[share] = true
			weights[share.Of] += float64(max(1, share.Weight))
		}
	}
	for _, s := range spans {
		if m.before == nil || m.before[s.lane] {
			add(m.shares[s.lane])
			add(m.shares[s.lane].Of)
		}
	}
	part := func(share *dispatch.Share) float64 {
		weight := float64(max(1, share.Weight))
		return weight / max(weight, weights[share.Of])
	}
	looks := make([]int32, len(spans))
	for i, s := range spans {
		tenant := m.shares[s.lane]
		looks[i] = int32(1.25*float64(choose)*part(tenant)*part(tenant.Of)) + 2
	}
	return looks
}

// answer is where the first columns of a statement go: how many jobs there were to choose
// from and, by shares, the lanes that have jobs.
func (m *fairMerge) answer(chosen *int) []any {
	if m == nil {
		return []any{chosen}
	}
	return []any{chosen, &m.busy}
}

// close records which tenants have jobs, and what they got.
func (m *fairMerge) close(merges *mergeState, jobs []*fairlead.Job) {
	if m == nil {
		return
	}
	busy := make(map[int32]bool, len(m.busy))
	for _, id := range m.busy {
		busy[id] = true
	}
	merges.busy.Store(&busy)
	lanes := make([]*dispatch.Lane, 0, len(m.shares))
	for id, share := range m.shares {
		lanes = append(lanes, &dispatch.Lane{ID: id, Share: share, All: !busy[id]})
	}
	m.claim.Close(false, lanes, jobs)
}
