package metrics

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// others is the name that stands for all entries not listed by name. An entry that really
// has this name is counted among them.
const others = "(other)"

// largest returns the n entries with the most ready and running jobs, and one more entry
// that sums up the rest. Users choose the names, and each name costs the monitoring system
// a time series.
func largest(n int, all []fairlead.Usage) []fairlead.Usage {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b fairlead.Usage) int {
		return cmp.Or(cmp.Compare(b.Ready+b.Running, a.Ready+a.Running), cmp.Compare(a.Name, b.Name))
	})
	rest := fairlead.Usage{Name: others}
	shown := make([]fairlead.Usage, 0, n+1)
	counted := 0
	for _, one := range sorted {
		if len(shown) < n && one.Name != others {
			shown = append(shown, one)
			continue
		}
		counted++
		rest.Ready += one.Ready
		rest.Running += one.Running
		rest.OldestWait = max(rest.OldestWait, one.OldestWait)
	}
	if counted > 0 {
		shown = append(shown, rest)
	}
	return shown
}
