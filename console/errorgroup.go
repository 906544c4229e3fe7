package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/cause"
)

// failed is something that failed, to be grouped with others by its error.
type failed struct {
	Error string
	At    time.Time
	Name  string // of what has failed
	Href  string // leads to it; empty: to nothing
}

// errorGroup is failures whose errors are alike.
type errorGroup struct {
	Like   string // what their errors have in common
	Count  count
	Newest failed
}

// groupErrors groups failures whose errors are alike, the largest group first.
func groupErrors(all []failed) []errorGroup {
	var groups []errorGroup
	places := map[string]int{}
	for _, one := range all {
		like := cause.Of(one.Error)
		place, known := places[like]
		if !known {
			place = len(groups)
			places[like] = place
			groups = append(groups, errorGroup{Like: like, Newest: one})
		}
		group := &groups[place]
		group.Count.N++
		if one.At.After(group.Newest.At) {
			group.Newest = one
		}
	}
	slices.SortStableFunc(groups, func(a, b errorGroup) int {
		return cmp.Or(cmp.Compare(b.Count.N, a.Count.N), cmp.Compare(a.Like, b.Like))
	})
	return groups
}
