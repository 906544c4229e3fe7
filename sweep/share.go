package sweep

import (
	"context"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
)

// handOver is how long a shard may be on its way from one node to another.
const handOver = time.Second

// share shares the rate and the parallelism of a sweep among the shards that run. A
// share grows only by what no other may be using: what they were granted, what they
// may have been ordered and what they last said that they use all count. So the sum is
// never more than the sweep may do; if that was lowered, than it might do before, until
// all have heard of it. The run of a shard begins with nothing. Of one that died the rate
// counts until it cannot use it any more, and nothing once its job was taken back.
//
// What a shard had that a node has just given back is kept for the next node: if the
// others had it meanwhile, that one would have to wait until they hear that it is gone.
func (s *steering) share(ctx context.Context) error {
	var running []*Shard
	handedOver := 0
	for i := range s.shards {
		switch sh := &s.shards[i]; {
		case sh.Ended:
		case s.states[i] == fairlead.Running:
			running = append(running, sh)
		case s.states[i] == fairlead.Ready && s.tx.Now().Sub(sh.SavedAt) < handOver:
			handedOver++
		}
	}
	s.listen(running)
	free, sharers := Share{Rate: s.Rate, InFlight: s.InFlight}, handedOver
	for _, sh := range running {
		held := sh.held()
		free.InFlight -= held.InFlight
		if silence := s.silence(sh); silence == nil || !silence.Free {
			free.Rate -= held.rate()
			sharers++
		}
	}
	var changed []Shard
	n := 0 // of those that share
	for _, sh := range running {
		var next Share
		silence := s.silence(sh)
		if silence == nil {
			next = free.grant(sh.held(), s.fair(n, sharers))
		}
		if silence == nil || !silence.Free {
			n++
		}
		if next != sh.Share {
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

// grant takes from what is free, which s is, what one that holds something gets to come to its fair
// share. Without a rate, where there is one, it may begin nothing.
func (s *Share) grant(held, fair Share) Share {
	next := fair
	if more := fair.Rate - held.rate(); more > 0 {
		more = min(more, max(0, s.Rate))
		s.Rate -= more
		next.Rate = held.Rate + more
	}
	if more := fair.InFlight - held.InFlight; more > 0 {
		more = min(more, max(0, s.InFlight))
		s.InFlight -= more
		next.InFlight = held.InFlight + more
	}
	if fair.Rate > 0 && next.Rate <= LeastRate {
		return Share{}
	}
	return next
}

// held is the most that a shard may be using.
func (s *Shard) held() Share { return s.Share.Or(s.Told).Or(s.Used) }

// Or returns a share in which each field is the larger of the two.
func (s Share) Or(other Share) Share {
	more := Share{Rate: max(s.Rate, other.Rate), InFlight: max(s.InFlight, other.InFlight)}
	if s.boundless() || other.boundless() {
		more.Rate = 0
	}
	return more
}

// boundless reports whether items may be begun at any rate.
func (s Share) boundless() bool { return s.InFlight > 0 && s.Rate == 0 }

// rate is how many items may be begun per second.
func (s Share) rate() float64 {
	if s.boundless() {
		return math.Inf(1)
	}
	return s.Rate
}
