package sweep

import (
	"context"

	"github.com/fairlead-io/fairlead"
)

// cut makes the shards: parts of the items that are as long as each other.
func (s *steering) cut(ctx context.Context) error {
	n := s.shardsUpTo(s.To)
	s.shards, s.states = make([]Shard, n), make([]fairlead.State, n)
	for i := range s.shards {
		from, to := s.From, s.To
		if n > 1 {
			from, to = s.From+partOf(s.To-s.From, i, n), s.From+partOf(s.To-s.From, i+1, n)
		}
		s.shards[i] = Shard{Sweep: s.ID, Number: i, From: from, To: to, Mark: from}
	}
	s.Cut = true
	return s.tx.Cut(ctx, s.shards)
}

// shardsUpTo is how many shards the sweep is to have if its items end there: one if that
// is not known.
func (s *steering) shardsUpTo(to int64) int {
	if to == 0 || s.Serial {
		return 1
	}
	return int(min(int64(s.Shards), max(1, to-s.From)))
}

// partOf is i n-ths of a number that may be large.
func partOf(total int64, i, n int) int64 {
	whole, rest := total/int64(n), total%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}
