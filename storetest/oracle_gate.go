package storetest

import "github.com/fairlead-io/fairlead"

// gate identifies the gate of jobs with a ConcurrencyKey.
type gate struct{ kind, tenant, key string }

func gateOf(r *record) gate { return gate{r.Kind, r.Tenant, r.ConcurrencyKey} }

// places returns the number of slots of each gate of a kind.
func (o *oracle) places(kind string) int { return max(o.perKey[kind], 1) }

// taken counts the used slots of each gate.
func (o *oracle) taken() map[gate]int {
	taken := map[gate]int{}
	for _, r := range o.records {
		if r.admitted {
			taken[gateOf(r)]++
		}
	}
	return taken
}

// admit makes every gate admit jobs to its free slots.
func (o *oracle) admit() {
	taken := o.taken()
	var parked []*fairlead.Job
	for _, r := range o.in(fairlead.Parked) {
		parked = append(parked, &r.Job)
	}
	for _, job := range inTurn(parked) {
		r := o.records[job.ID]
		if taken[gateOf(r)] < o.places(r.Kind) {
			taken[gateOf(r)]++
			r.admitted, r.State = true, fairlead.Ready
		}
	}
}
