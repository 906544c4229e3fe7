package engine

import (
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// sweeps bounds of how many sweeps a node has shards.
//
// A claim cannot say which sweeps it wants, so a node may get a shard that is one
// sweep too many. It gives it back and claims no shards for a while: others that have
// room get it first. Without that rest two full nodes would pass it to each other all
// the time.
type sweeps struct {
	mu      sync.Mutex
	bound   int // by the options
	most    int // by how many sweeps and nodes there are
	shards  map[int64]int
	resting time.Time // until then no shards are claimed if there is no room for another sweep
	rest    time.Duration
}

// sweepRest is how many polls a full node claims no shards after it gave one back.
const sweepRest = 5

func newSweeps(o Options) *sweeps {
	return &sweeps{bound: o.MaxSweeps, most: o.MaxSweeps, shards: map[int64]int{}, rest: sweepRest * o.Poll}
}

func (s *sweeps) setMost(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = min(most, s.bound)
}

// closed tells whether no shards are to be claimed now.
func (s *sweeps) closed(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shards) >= s.most && now.Before(s.resting)
}

// admit takes up the shard that a job goes over, or refuses it. Other jobs are
// admitted.
func (s *sweeps) admit(job *fairlead.Job, now time.Time) bool {
	sweep := sweepOf(job)
	if sweep == 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shards[sweep] == 0 && len(s.shards) >= s.most {
		s.resting = now.Add(s.rest)
		return false
	}
	s.shards[sweep]++
	return true
}

// leave gives up a shard that was admitted.
func (s *sweeps) leave(job *fairlead.Job) {
	sweep := sweepOf(job)
	if sweep == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shards[sweep]--; s.shards[sweep] <= 0 {
		delete(s.shards, sweep)
	}
}
