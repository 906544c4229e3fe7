package dispatch

import (
	"cmp"
	"math"
)

// ByShare orders two lanes of fair scopes, of which it is known where they begin, about as
// a choice does: a caller with very many of them reads the first.
func ByShare(a *Share, from Key, b *Share, other Key) int {
	return cmp.Or(cmp.Compare(from.Turn, other.Turn), cmp.Compare(a.Of.Had, b.Of.Had), from.Compare(other))
}

// Rests stand for the lanes of fair scopes that were not read, given the first by ByShare
// of each scope: none of the others comes before it, whatever the choice takes. A rest
// that a choice asks for means that these lanes are to be read.
type Rests map[*Share]*Lane

// Add adds a lane. The lanes of a scope come in order.
func (r Rests) Add(share *Share, from Key) {
	scope := share.Of.Of
	if r[scope] != nil {
		return
	}
	family := &Share{Weight: math.MaxInt32, Had: share.Of.Had, Of: scope}
	r[scope] = &Lane{From: from, rest: true, Share: &Share{Weight: math.MaxInt32, Of: family}}
}

// Append adds the rests to the lanes of a choice.
func (r Rests) Append(lanes []*Lane) []*Lane {
	for _, rest := range r {
		lanes = append(lanes, rest)
	}
	return lanes
}

// Has reports whether a lane is one of the rests.
func (r Rests) Has(lane *Lane) bool {
	for _, rest := range r {
		if rest == lane {
			return true
		}
	}
	return false
}
