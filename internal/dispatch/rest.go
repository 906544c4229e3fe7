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
// of each scope: none of the others comes before it, whatever the choice takes. Of a family
// that was read in part, another one stands for the rest of the family: which of its tenants
// is first does not follow from where their jobs begin. A rest that a choice asks for means
// that these lanes are to be read.
//
// The keys are scopes, and the families that were read in part; their lane is nil as long as
// none is left out.
type Rests map[*Share]*Lane

// Read tells that a lane was read. It comes before all that are added.
func (r Rests) Read(share *Share) { r[share.Of] = nil }

// Add adds a lane that was not read. The lanes of a scope come in order.
func (r Rests) Add(share *Share, from Key) {
	family := share.Of
	rest, read := r[family]
	switch {
	case !read && r[family.Of] == nil:
		r[family.Of] = newRest(&Share{Weight: math.MaxInt32, Had: family.Had, Of: family.Of}, 0, from)
	case !read:
	case rest == nil:
		r[family] = newRest(family, share.Had, frontOf(from.Turn))
	default:
		rest.Share.Had, rest.From = min(rest.Share.Had, share.Had), frontOf(min(rest.From.Turn, from.Turn))
	}
}

// frontOf comes before every key of a priority: the tenant with the least may be another
// than the one with the first job.
func frontOf(turn int16) Key { return Key{Turn: turn, StartBy: Front.StartBy, ID: Front.ID} }

// newRest is a lane of a family. So much weight leaves it where it is, whatever is taken.
func newRest(family *Share, had float64, from Key) *Lane {
	return &Lane{From: from, rest: true, Share: &Share{Weight: math.MaxInt32, Had: had, Of: family}}
}

// Append adds the rests to the lanes of a choice.
func (r Rests) Append(lanes []*Lane) []*Lane {
	for _, rest := range r {
		if rest != nil {
			lanes = append(lanes, rest)
		}
	}
	return lanes
}

// Has reports whether a lane is one of the rests.
func (r Rests) Has(lane *Lane) bool { return lane.rest }
