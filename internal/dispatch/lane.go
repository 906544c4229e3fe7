package dispatch

import (
	"cmp"
	"math"
)

// Key is a ready job's position in the order of all ready jobs.
type Key struct {
	Turn        int16 // negated priority: small values go first
	StartBy, ID int64
}

// Front precedes every other key.
var Front = Key{Turn: math.MinInt16, StartBy: math.MinInt64, ID: math.MinInt64}

// Compare returns a negative number if k comes before other, a positive number if it comes
// after other, and zero if the keys are equal.
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

// Next returns the smallest key with the same priority and StartBy that can follow k.
func (k Key) Next() Key { return Key{Turn: k.Turn, StartBy: k.StartBy, ID: k.ID + 1} }

// Lane is a lane with those of its ready jobs that are known. The same limits apply to all
// of its jobs, so a claim takes either the lane's first few jobs or none.
type Lane struct {
	ID     int32
	Kind   string
	Limits []*Limit
	Tenant *Limit // the tenant's own limit among them; nil if it has none

	Share *Share // share of the tenant, if its scope is fair; nil = the lane is sorted by keys

	From Key   // lower bound for the lane's jobs
	Keys []Key // first jobs, in order
	All  bool  // whether there are no other jobs

	rest bool // whether the lane stands for others, see Rests

	// Others are the nodes that run the lane's jobs if this one does not. In that case the
	// jobs are not picked, but their entitlements are left to these nodes.
	Others *Others
}

// Others is a set of other nodes that serve the same lanes.
type Others struct {
	Idle int // number of jobs that they could start now
}

// First returns the key of the lane's first job, or a lower bound for it.
func (l *Lane) First() Key {
	if len(l.Keys) > 0 {
		return l.Keys[0]
	}
	return l.From
}

// next returns the key of the lane's n-th job, or a lower bound for it; known distinguishes
// the two. ok is false if there is no such job.
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
