package fairlead

import "context"

// recut tells whether the sweep wants another number of shards than it has, which it
// may as long as no item has been begun.
func (s *steering) recut() bool {
	if len(s.shards) == s.wantedShards() || s.anyLive() {
		return false
	}
	for i := range s.shards {
		if sh := &s.shards[i]; sh.Mark > sh.From || len(sh.Window) > 0 {
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
		s.shards[i] = Shard{Sweep: s.ID, Number: i, From: from, To: to, Mark: from, Ended: to != 0 && from >= to}
	}
	s.Cut = true
	return s.tx.Cut(ctx, s.shards)
}

// partOf is i n-ths of a number that may be large.
func partOf(total int64, i, n int) int64 {
	whole, rest := total/int64(n), total%int64(n)
	return whole*int64(i) + rest*int64(i)/int64(n)
}

// share shares the rate and the parallelism of a sweep among the shards that run. A
// share grows only by what no other may be using: what they were granted and what
// they last said that they use both count. So the sum is never more than the sweep
// may do. The run of a shard begins with nothing, and of one that died nothing counts
// once its job was taken back.
func (s *steering) share(ctx context.Context) error {
	var running []*Shard
	for i := range s.shards {
		if !s.shards[i].Ended && s.states[i] == Running {
			running = append(running, &s.shards[i])
		}
	}
	free := Share{Rate: s.Rate, InFlight: s.InFlight}
	for _, sh := range running {
		held := sh.held()
		free.Rate -= held.Rate
		free.InFlight -= held.InFlight
	}
	var changed []Shard
	for n, sh := range running {
		if next := free.grant(sh.held(), s.fair(n, len(running))); next != sh.Share {
			sh.Share = next
			changed = append(changed, *sh)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.tx.Grant(ctx, changed)
}

// fair is the share of the nth of so many shards.
func (s *Sweep) fair(n, of int) Share {
	slots := partOf(int64(s.InFlight), n+1, of) - partOf(int64(s.InFlight), n, of)
	return Share{Rate: s.Rate / float64(of), InFlight: int(slots)}
}

// grant is what one that holds something gets of what is free, to come to its fair
// share. Without a rate, where there is one, it may begin nothing.
func (free *Share) grant(held, fair Share) Share {
	next := fair
	if more := fair.Rate - held.Rate; more > 0 {
		more = min(more, max(0, free.Rate))
		free.Rate -= more
		next.Rate = held.Rate + more
	}
	if more := fair.InFlight - held.InFlight; more > 0 {
		more = min(more, max(0, free.InFlight))
		free.InFlight -= more
		next.InFlight = held.InFlight + more
	}
	if fair.Rate > 0 && next.Rate == 0 {
		next.InFlight = 0
	}
	return next
}

// held is what a shard may be using: the larger of what it was granted and what it
// said.
func (s *Shard) held() Share {
	return Share{Rate: max(s.Share.Rate, s.Used.Rate), InFlight: max(s.Share.InFlight, s.Used.InFlight)}
}
