package storetest

import "github.com/fairlead-io/fairlead"

// gate is what jobs with a ConcurrencyKey have to pass.
type gate struct{ kind, tenant, key string }

func gateOf(r *record) gate { return gate{r.Kind, r.Tenant, r.ConcurrencyKey} }

// places is how many jobs of a kind each of its gates admits.
func (o *oracle) places(kind string) int { return max(o.perKey[kind], 1) }

// taken counts the places of each gate that jobs have.
func (o *oracle) taken() map[gate]int {
	taken := map[gate]int{}
	for _, r := range o.records {
		if r.admitted {
			taken[gateOf(r)]++
		}
	}
	return taken
}

// admit lets every gate admit whom it has places for.
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
