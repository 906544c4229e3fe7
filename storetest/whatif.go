package storetest

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// whatIf asks as the client does.
func (f *fixture) whatIf(question fairlead.WhatIf) fairlead.Forecast {
	f.Helper()
	forecast, err := f.tryWhatIf(question)
	f.ok(err)
	return forecast
}

func (f *fixture) tryWhatIf(question fairlead.WhatIf) (fairlead.Forecast, error) {
	f.Helper()
	f.ok(fairlead.NormalizeWhatIf(&question))
	return f.store.WhatIf(f.ctx(), question)
}

func startIDs(outlook fairlead.Outlook) []int64 {
	list := make([]int64, len(outlook.Starts))
	for i, start := range outlook.Starts {
		list[i] = start.Job
	}
	return list
}

func testWhatIf(c *chapter) {
	for seed := range whatIfSeeds() {
		c.test(fmt.Sprintf("what was foreseen is what claims take after the change, with seed %d", seed), func(f *fixture) { testWhatIfHappens(f, seed) })
	}
}
