package cron

import "math/bits"

// set is a set of numbers from 0 to 63.
type set uint64

// span returns the set of all numbers from low to high.
func span(low, high int) set {
	return set(1)<<(high+1) - set(1)<<low
}

// steps returns the set of every n-th number from low to high.
func steps(low, high, n int) set {
	var s set
	for i := low; i <= high; i += n {
		s.add(i)
	}
	return s
}

func (s *set) add(n int) { *s |= 1 << n }

func (s set) has(n int) bool { return s>>n&1 != 0 }

func (s set) size() int { return bits.OnesCount64(uint64(s)) }

// first returns the smallest member of a nonempty set.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// last returns the largest member of a nonempty set.
func (s set) last() int { return bits.Len64(uint64(s)) - 1 }

// from returns the members that are at least n.
func (s set) from(n int) set { return s >> n << n }

// upTo returns the members that are at most n.
func (s set) upTo(n int) set { return s & (set(1)<<(n+1) - 1) }

// stride returns the distance between neighbors if it is the same for all of at least two
// members, else 0.
func (s set) stride() int {
	if s.size() < 2 {
		return 0
	}
	n := s.from(s.first()+1).first() - s.first()
	if s != steps(s.first(), s.last(), n) {
		return 0
	}
	return n
}

// members returns the members in order.
func (s set) members() []int {
	list := make([]int, 0, s.size())
	for ; s != 0; s &= s - 1 {
		list = append(list, s.first())
	}
	return list
}

// runs splits the set at missing numbers.
func (s set) runs() []set {
	var list []set
	for s != 0 {
		run := s & span(s.first(), s.first()+bits.TrailingZeros64(^uint64(s>>s.first()))-1)
		list = append(list, run)
		s &^= run
	}
	return list
}
