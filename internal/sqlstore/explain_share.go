package sqlstore

import (
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead"
)

// shares reports whether a lane belongs to another tenant that shares starts with the job's
// tenant.
func (f *Facts) shares(lane LaneKey) bool {
	mine, fair := f.LimitConfig.Party(KeyOf(f.Job))
	other, shared := f.LimitConfig.Party(lane)
	return fair && shared && mine.Scope == other.Scope && mine.Tenant != other.Tenant
}

// inLine returns the obstacle of a job with other jobs ahead of it. Where tenants share
// starts, these are the other jobs of its tenant.
func (e *explaining) inLine() fairlead.Obstacle {
	o := fairlead.Obstacle{Code: fairlead.InLine}
	if e.Share != nil {
		o.Scope, o.Name = fairlead.LimitTenant, e.lane.Tenant
	}
	return o
}

// share computes the share of starts that the job's tenant gets.
func (e *explaining) share() {
	party, fair := e.LimitConfig.Party(e.lane)
	if !fair {
		return
	}
	active, families, all := map[string]bool{party.Tenant: true}, map[string]int{}, 0
	for tenant, started := range e.Shared {
		active[tenant] = true
		all += started
	}
	siblings := 0
	for tenant := range active {
		other := e.LimitConfig.partyIn(party.Scope, tenant)
		families[other.Family] = other.FamilyWeight
		if other.Family == party.Family {
			siblings += other.Weight
		}
	}
	whole := 0
	for _, weight := range families {
		whole += weight
	}
	share := &fairlead.Share{
		Queue: party.Scope, Weight: party.Weight,
		Entitled: float64(party.FamilyWeight) / float64(whole) * float64(party.Weight) / float64(siblings),
		Had:      float64(e.Shared[party.Tenant]) / float64(max(1, all)),
	}
	share.Text = fmt.Sprintf("tenant %q has weight %d: it is entitled to %s of the starts of %s, and had %s in the last minute",
		party.Tenant, party.Weight, percent(share.Entitled), sharedBy(party.Scope), percent(share.Had))
	e.Share = share
}

func percent(part float64) string { return fmt.Sprintf("%v %%", math.Round(part*1000)/10) }

func sharedBy(scope string) string {
	if scope == wholeCluster {
		return "the cluster"
	}
	return fmt.Sprintf("queue %q", scope)
}
