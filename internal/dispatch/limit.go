package dispatch

import (
	"math"
	"time"
)

// Limit is what a cap and a rate leave to a claim. The claim has locked it: no other
// claim starts jobs under it meanwhile.
type Limit struct {
	ID  int32
	Cap int // jobs that run or wait for a callback at once; zero: any number
	Min int // of a tenant: jobs that it is guaranteed

	Rate  float64 // starts per second; zero: any number
	Burst int     // starts saved up, at most

	Used   int     // jobs that hold it now
	Tokens float64 // starts saved up now
}

// Refill adds the tokens of a span of time, never more than the burst holds.
// A clock that was set back adds none.
func (l *Limit) Refill(elapsed time.Duration) {
	if l.Rate <= 0 {
		return
	}
	l.Tokens = min(float64(l.Burst), l.Tokens+max(0, elapsed.Seconds())*l.Rate)
}

// Room is how many jobs may start now.
func (l *Limit) Room() int {
	room := math.MaxInt
	if l.Cap > 0 {
		room = max(0, l.Cap-l.Used)
	}
	if l.Rate > 0 {
		room = min(room, max(0, int(l.Tokens)))
	}
	return room
}

// Full reports whether as many jobs run as the cap allows.
func (l *Limit) Full() bool { return l.Cap > 0 && l.Used >= l.Cap }

// NextToken is how long it is until a start is saved up; zero if there is one.
func (l *Limit) NextToken() time.Duration { return l.TokenAfter(0) }

// TokenAfter is how long it is until a start is saved up beyond those that some jobs take.
func (l *Limit) TokenAfter(jobs int) time.Duration {
	need := float64(jobs) + 1
	if l.Rate <= 0 || l.Tokens >= need {
		return 0
	}
	return saturated((need - l.Tokens) / l.Rate * float64(time.Second))
}

// saturated is a number of nanoseconds, or the longest duration: rates may be tiny.
func saturated(nanoseconds float64) time.Duration {
	if nanoseconds >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(nanoseconds))
}

// lacks is how many more jobs the minimum promises.
func (l *Limit) lacks() int { return max(0, l.Min-l.Used) }
