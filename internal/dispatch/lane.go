package dispatch

import (
	"cmp"
	"math"
)

// Key is where a ready job stands among all.
type Key struct {
	Turn        int16 // priority, negated: small ones go first
	StartBy, ID int64
}

// Front comes before every key.
var Front = Key{Turn: math.MinInt16, StartBy: math.MinInt64, ID: math.MinInt64}

// Compare orders keys.
func (k Key) Compare(other Key) int {
	switch {
	case k.Turn != other.Turn:
		return cmp.Compare(k.Turn, other.Turn)
	case k.StartBy != other.StartBy:
		return cmp.Compare(k.StartBy, other.StartBy)
	default:
		return cmp.Compare(k.ID, other.ID)
	}
}

// Next is the first key that can come behind.
func (k Key) Next() Key { return Key{Turn: k.Turn, StartBy: k.StartBy, ID: k.ID + 1} }

// Lane is a lane with what is known of its ready jobs. All of them are under
// the same limits, so that a claim takes the first few of a lane or none.
type Lane struct {
	ID     int32
	Kind   string
	Limits []*Limit
	Tenant *Limit // that of them which is the tenant's own; nil if it has none

	Share *Share // of the tenant, where its scope is fair; nil: the lane goes by its keys

	From Key   // no job of the lane comes before it
	Keys []Key // the first jobs, in order
	All  bool  // there are no others

	rest bool // it stands for others, see Rests

	// Others are the nodes that run the lane's jobs if this one does not. The
	// jobs are then not picked, but what they are entitled to is left to them.
	Others *Others
}

// Others are nodes that serve the same lanes.
type Others struct {
	Idle int // jobs that they could start now
}

// First is where the lane's first job stands, or a bound before it.
func (l *Lane) First() Key {
	if len(l.Keys) > 0 {
		return l.Keys[0]
	}
	return l.From
}

// next is where the lane's n-th job stands, or a bound before it. known tells
// which; ok is false if there is none.
func (l *Lane) next(n int) (key Key, known, ok bool) {
	switch {
	case n < len(l.Keys):
		return l.Keys[n], true, true
	case l.All:
		return Key{}, false, false
	case n > 0:
		return l.Keys[n-1], false, true
	default:
		return l.From, false, true
	}
}
