package metrics

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// others stands for all that are not shown by their name. What really has this
// name is counted among them.
const others = "(other)"

// largest returns the n that have most jobs ready or running, and one more that
// is all others together, if there are any: names are chosen by users, and each
// costs the monitoring a series.
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
