package httpcall

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	breakerFirst   = time.Second      // how long a breaker stays open at first
	breakerLongest = time.Minute      // each failed probe doubles that, up to here
	fullPause      = time.Second      // how long a job stays away from a target that is busy
	idleTarget     = 10 * time.Minute // a target that failed is forgotten after so long without a call
	manyTargets    = 1000             // so many are worth looking for idle ones
)

// verdict is what a call says of its target.
type verdict int

const (
	unknown   verdict = iota // nothing: it was ended, or never made
	answered                 // it is there
	unhealthy                // it is not there, or cannot keep up
)

// breakers keep calls away from targets that fail, and from those that have
// enough calls under way. They know this node's calls only.
type breakers struct {
	maxRunning  int // calls under way to one target; zero: any number
	maxFailures int // failures in a row that open a breaker; zero: never

	mu     sync.Mutex
	byName map[string]*breaker
}

// breaker is what is known of one target.
type breaker struct {
	running  int
	failures int           // in a row
	pause    time.Duration // how long it stays open; zero: it is closed
	opened   time.Time     // when that was, unless it is closed
	until    time.Time     // when the next call may probe
	probing  bool
	touched  time.Time // when the last call ended, if none is under way
}

func newBreakers(maxRunning, maxFailures int) *breakers {
	return &breakers{maxRunning: maxRunning, maxFailures: maxFailures, byName: map[string]*breaker{}}
}

// entry is a call under way.
type entry struct {
	breaker *breaker // nil: the call may not be made
	name    string
	probe   bool
}

// enter asks to call a target. Either it returns how long to stay away, or the entry
// with which to leave, once.
func (b *breakers) enter(name string) (e entry, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.find(name)
	if t.pause > 0 {
		if left := time.Until(t.until); left > 0 {
			return entry{}, spread(left)
		}
	}
	switch {
	case t.probing:
		return entry{}, spread(t.pause)
	case b.maxRunning > 0 && t.running >= b.maxRunning:
		return entry{}, spread(fullPause)
	}
	t.probing = t.pause > 0
	t.running++
	return entry{t, name, t.probing}, 0
}

// find returns what is known of a target. The lock is held.
func (b *breakers) find(name string) *breaker {
	t := b.byName[name]
	if t != nil {
		return t
	}
	if len(b.byName) >= manyTargets {
		now := time.Now()
		for other, t := range b.byName {
			if t.idle(now) {
				delete(b.byName, other)
			}
		}
	}
	t = &breaker{}
	b.byName[name] = t
	return t
}

// leave is the end of a call, with what it said of its target.
func (b *breakers) leave(e entry, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := e.breaker
	t.running--
	if e.probe {
		t.probing = false
	}
	switch {
	case v == answered:
		t.failures, t.pause = 0, 0
	case v == unhealthy && e.probe:
		t.failures++
		t.pause = min(2*t.pause, breakerLongest)
		t.until = time.Now().Add(t.pause)
	case v == unhealthy:
		t.failures++
		if b.maxFailures > 0 && t.failures >= b.maxFailures && t.pause == 0 {
			t.pause, t.opened = breakerFirst, time.Now()
			t.until = t.opened.Add(t.pause)
		}
	}
	if t.running > 0 {
		return
	}
	if t.failures == 0 && t.pause == 0 {
		delete(b.byName, e.name)
		return
	}
	t.touched = time.Now()
}

// spread is a pause with some chance in it, so that those who are sent away
// together do not come back together.
func spread(pause time.Duration) time.Duration {
	return pause + rand.N(pause/4+50*time.Millisecond)
}
