package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/cause"
)

// failed is a failed object, to be grouped with others by its error.
type failed struct {
	Error string
	At    time.Time
	Name  string // name of the failed object
	Href  string // link to it; empty = no link
}

// errorGroup is a group of failures with similar errors.
type errorGroup struct {
	Like   string // common part of the errors
	Count  count
	Newest failed
}

// groupErrors groups failures with similar errors, largest group first.
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
