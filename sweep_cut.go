package fairlead

import "context"

// recut tells whether the sweep wants another number of shards than it has, which it
// may as long as no item has been begun.
func (s *steering) recut() bool {
	if len(s.shards) == s.wantedShards() || s.anyLive() {
		return false
	}
	for i := range s.shards {
		if sh := &s.shards[i]; sh.Mark > sh.From || len(sh.Window) > 0 || len(sh.Pending) > 0 {
			return false
		}
	}
	return true
}

// wantedShards is one if it is not known how many items there are.
func (s *steering) wantedShards() int {
	if s.To == 0 || s.Serial {
		return 1
	}
	return int(min(int64(s.Sweep.Shards), max(1, s.To-s.From)))
}

// cut makes the shards: parts of the items that are as long as each other.
func (s *steering) cut(ctx context.Context) error {
	n := s.wantedShards()
	s.shards, s.states = make([]Shard, n), make([]State, n)
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

// partOf is i n-ths of a number that may be large.
func partOf(total int64, i, n int) int64 {
	whole, rest := total/int64(n), total%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}
