package dispatch

import (
	"cmp"
	"math"
)

// ByShare compares two lanes of fair scopes with known first keys, in approximately the
// order of a choice: a caller with very many lanes reads the first ones.
func ByShare(a *Share, from Key, b *Share, other Key) int {
	return cmp.Or(cmp.Compare(from.Turn, other.Turn), cmp.Compare(a.Of.Had, b.Of.Had), from.Compare(other))
}

// Rests stand for the lanes of fair scopes that were not read. A rest is created from the
// first unread lane by ByShare of each scope, and no unread lane can come before it,
// whatever the choice takes. For a family that was partly read, another rest stands for the
// rest of the family, because the order of its tenants does not follow from where their
// jobs begin. If a choice asks for a rest, its lanes must be read.
//
// The keys are scopes, and the families that were partly read; the lane is nil as long as
// no lane is left out.
type Rests map[*Share]*Lane

// Read records that a lane was read. It must be called before all calls of Add.
func (r Rests) Read(share *Share) { r[share.Of] = nil }

// Add adds a lane that was not read. The lanes of a scope must be added in order.
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

// frontOf returns a key before every key of a priority: the tenant with the least starts
// may be another one than that of the first job.
func frontOf(turn int16) Key { return Key{Turn: turn, StartBy: Front.StartBy, ID: Front.ID} }

// newRest returns a lane of a family. Its large weight keeps it in place, whatever is
// taken.
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
