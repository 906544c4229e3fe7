package cron

import "math/bits"

// set is a set of numbers from 0 to 63.
type set uint64

// span is the set of all numbers from low to high.
func span(low, high int) set {
	return set(1)<<(high+1) - set(1)<<low
}

// steps is the set of every n-th number from low to high.
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

// first is the smallest member of a set that is not empty.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// last is the largest member of a set that is not empty.
func (s set) last() int { return bits.Len64(uint64(s)) - 1 }

// from is what is not less than n.
func (s set) from(n int) set { return s >> n << n }

// upTo is what is not more than n.
func (s set) upTo(n int) set { return s & (set(1)<<(n+1) - 1) }

// stride is the distance between neighbours when it is the same for all of at
// least two members, else 0.
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

// members lists the set in order.
func (s set) members() []int {
	list := make([]int, 0, s.size())
	for ; s != 0; s &= s - 1 {
		list = append(list, s.first())
	}
	return list
}

// runs takes the set apart where numbers are missing.
func (s set) runs() []set {
	var list []set
	for s != 0 {
		run := s & span(s.first(), s.first()+bits.TrailingZeros64(^uint64(s>>s.first()))-1)
		list = append(list, run)
		s &^= run
	}
	return list
}
