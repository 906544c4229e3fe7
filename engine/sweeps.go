package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweeps bounds of how many sweeps a node has shards, and how many shards it claims.
//
// A claim cannot say which sweeps it wants, so a node may get a shard that is one
// sweep too many. It gives it back and claims no shards for a while: others that have
// room get it first. Without that rest two full nodes would pass it to each other all
// the time. What no other node could run it keeps, up to the bound of its options: there is
// nothing to share, and a sweep that was started since it last looked would only idle.
//
// A node that has more shards than others gives one back now and then, and rests as
// well. If the shard comes back to it, no other node wanted it, and it waits longer before it
// gives one again.
type sweeps struct {
	mu      sync.Mutex
	poll    time.Duration
	bound   int // by the options
	most    int // by how many sweeps and nodes there are
	shards  map[int64]int
	total   int
	resting time.Time // until then no shards are claimed if there is no room for another sweep

	share   int                 // shards that it claims at most; zero: any number
	ignored map[int64]time.Time // jobs of shards that no node has claimed, and when that was first seen
	tight   bool                // sweeps are not to be spread any further: there is no more room than for those that do not run
	others  map[int64]bool      // sweeps that run on other nodes
	rivals  []fairlead.Node     // other nodes that may have shards
	several bool                // there are shards of more than one sweep

	giving  *run      // a run that was asked to end for the sake of others
	gave    int64     // the job of the last
	failed  int       // how often in a row it came back
	shut    time.Time // until then no shards are claimed that others may want
	waiting time.Time // until then no shard is given
}

const (
	// sweepRest is how many polls a node claims no shards after it gave one back, and
	// after how many a shard is for any node that has a slot for it.
	sweepRest = 5
	// giveEvery is how many polls are between two shards that a node gives.
	giveEvery = 3
	// giveDoublings is how often that time is doubled at most.
	giveDoublings = 7
)

func newSweeps(o Options) *sweeps {
	return &sweeps{bound: o.MaxSweeps, most: o.MaxSweeps, shards: map[int64]int{}, poll: o.Poll}
}

// see takes up where the shards are, as a node sees it. It reports whether some of them
// are on their way.
func (s *sweeps) see(p *placement, id fairlead.NodeID, now time.Time) (onTheWay bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rivals = p.besides(id)
	s.most, s.share = min(max(1, p.most), s.bound), p.share()
	s.tight, s.several = len(p.places) > 0 && p.spare() <= 0, len(p.places) > 1
	if len(s.rivals) == 0 {
		s.most, s.tight = s.bound, false
	}
	onTheWay = len(p.orphans) > 0
	ignored := make(map[int64]time.Time, len(p.waiting))
	for _, job := range p.waiting {
		since, before := s.ignored[job.ID]
		if !before {
			since = now
		}
		if ignored[job.ID] = since; now.Sub(since) >= sweepRest*s.poll {
			s.share = 0 // the nodes that it was left to do not want it
		} else {
			onTheWay = true
		}
	}
	s.ignored, s.others = ignored, map[int64]bool{}
	own := p.host(id)
	for sweep := range p.places {
		if p.hosted(sweep, own) {
			s.others[sweep] = true
		}
	}
	return onTheWay
}

// room is how many shards may be claimed now; negative: any number.
func (s *sweeps) room(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := len(s.shards) >= s.most || s.tight
	switch {
	case now.Before(s.resting) && full:
		return 0
	case s.share == 0:
		return -1
	case now.Before(s.shut) || s.total >= s.share:
		return 0
	case full && s.several:
		return -1 // only some of what comes fits
	}
	return s.share - s.total
}

// admit takes up the shard that a job goes over, or refuses it. Other jobs are
// admitted.
func (s *sweeps) admit(job *fairlead.Job, now time.Time) bool {
	sweep := sweep.Of(job)
	if sweep == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.most
	if !servedByAny(s.rivals, job) {
		most = s.bound
	}
	if s.shards[sweep] == 0 && (len(s.shards) >= most || s.tight && s.others[sweep]) {
		s.resting = now.Add(sweepRest * s.poll)
		return false
	}
	if s.share > 0 && s.total >= s.share {
		return false
	}
	if job.ID == s.gave {
		s.gave = 0
		s.failed = min(s.failed+1, giveDoublings)
		s.waiting = now.Add(giveEvery * s.poll << s.failed)
	}
	s.shards[sweep]++
	s.total++
	return true
}

// leave gives up the shard of a run that was admitted.
func (s *sweeps) leave(r *run) {
	sweep := sweep.Of(r.job)
	if sweep == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.shards[sweep]--; s.shards[sweep] <= 0 {
		delete(s.shards, sweep)
	}
	if s.giving == r {
		s.giving = nil
	}
}

// mayGive reports whether the time has come to give a shard to others: one after the
// other. A node that has claimed more than it admitted is about to give that back.
func (s *sweeps) mayGive(now time.Time, claimed int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.giving == nil && claimed == s.total && !now.Before(s.waiting)
}

// give asks one of the runs to end whose shard is of a sweep.
func (s *sweeps) give(sw int64, runs []*run, now time.Time) {
	i := slices.IndexFunc(runs, func(r *run) bool { return r.own != nil && sweep.Of(r.job) == sw && r.begun() })
	if i < 0 {
		return
	}
	s.mu.Lock()
	if s.gave != 0 { // it stayed with the node that took it
		s.failed = 0
	}
	s.giving, s.gave = runs[i], runs[i].job.ID
	s.shut, s.waiting = now.Add(sweepRest*s.poll), now.Add(giveEvery*s.poll<<s.failed)
	s.mu.Unlock()
	runs[i].own.tell()
}
