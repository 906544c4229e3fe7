package sweep

import (
	"slices"
	"time"
)

// A run begins nothing once a second has passed since it asked for the orders that it
// goes by. So its rate need not wait until the lease of a dead node is over: the run is
// ordered to begin nothing, and once every order that it may have had before that has
// become too old, others may have its rate. What it has in flight counts until its job
// is taken back.
const (
	// unheard is after how long without a checkpoint a run is not expected to be there.
	unheard = 1500 * time.Millisecond
	// stale is how old the orders are that no run goes by any more, and a margin for
	// clocks that are not equally fast.
	stale = 1250 * time.Millisecond
)

// Silence describes a shard whose run must not start any more items, because the run has not
// reported for too long.
type Silence struct {
	Shard int       // number of the shard
	Since time.Time // latest time at which the run receives this order; zero means from now on
	Free  bool      // other shards have received its rate
}

// listen finds which of the shards that run are silent. If none is heard of there is
// no run that could use their rate, and it is rather the store that was slow.
func (s *steering) listen(running []*Shard) {
	heard := slices.ContainsFunc(running, func(sh *Shard) bool { return !s.unheard(sh) })
	var silent []Silence
	for _, sh := range running {
		if before := s.silence(sh); before != nil {
			if after, still := s.stillSilent(*before, sh); still {
				silent = append(silent, after)
			}
		} else if heard && s.Rate > 0 && s.unheard(sh) && !sh.held().boundless() {
			silent = append(silent, Silence{Shard: sh.Number})
		}
	}
	s.Silent = silent
}

// stillSilent follows a shard that was silent. The order to begin nothing was stored with
// the silence and is committed by now: its run can have asked for other orders only
// before.
//
// One whose rate others have gets none before it has said that it uses none: what it
// says at first is from before.
func (s *steering) stillSilent(silence Silence, sh *Shard) (Silence, bool) {
	now := s.tx.Now()
	switch {
	case silence.Free:
		return silence, s.unheard(sh) || sh.Told.rate() > 0 || sh.Used.rate() > LeastRate
	case !s.unheard(sh):
		return silence, false
	case silence.Since.IsZero():
		silence.Since = now
	case now.Sub(silence.Since) >= stale:
		silence.Free = true
	}
	return silence, true
}

func (s *steering) unheard(sh *Shard) bool { return s.tx.Now().Sub(sh.SavedAt) > unheard }

// silence is that of a shard, if it is silent.
func (s *steering) silence(sh *Shard) *Silence {
	i := slices.IndexFunc(s.Silent, func(silence Silence) bool { return silence.Shard == sh.Number })
	if i < 0 {
		return nil
	}
	return &s.Silent[i]
}
