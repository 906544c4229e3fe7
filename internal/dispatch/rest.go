package dispatch

import (
	"cmp"
	"math"
)

// ByShare compares two lanes in fair scopes by their shares and first keys. The resulting
// order approximates the order in which Choose takes jobs. A caller with very many lanes
// reads only the first lanes in this order.
func ByShare(a *Share, from Key, b *Share, other Key) int {
	return cmp.Or(cmp.Compare(from.Turn, other.Turn), cmp.Compare(a.Of.Had, b.Of.Had), from.Compare(other))
}

// Rests stands for the lanes of fair scopes that were not read. For each scope, a rest is
// created from the first unread lane in ByShare order. No unread lane can come before the
// rest, whatever Choose takes. If only some lanes of a family were read, a separate rest
// stands for the family's other lanes, because the order of its tenants does not follow from
// the positions of their first jobs. If Choose needs a rest, the caller must read the lanes
// behind it.
//
// The map keys are scopes and partly read families. The value is nil as long as no lane has
// been left out.
type Rests map[*Share]*Lane

// Read records that a lane with this share was read. All calls of Read must come before the
// first call of Add.
func (r Rests) Read(share *Share) { r[share.Of] = nil }

// Add adds a lane that was not read. A scope's lanes must be added in ByShare order.
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

// Append appends the rests to lanes, for use with Choose.
func (r Rests) Append(lanes []*Lane) []*Lane {
	for _, rest := range r {
		if rest != nil {
			lanes = append(lanes, rest)
		}
	}
	return lanes
}

// Has reports whether lane is a rest.
func (r Rests) Has(lane *Lane) bool { return lane.rest }
