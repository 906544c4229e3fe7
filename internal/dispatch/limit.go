package dispatch

import (
	"math"
	"time"
)

// Limit is a cap and a rate with their current usage. The claim holds a lock on it, so no
// concurrent claim starts jobs under it.
type Limit struct {
	ID  int32
	Cap int // jobs that run or wait for a callback concurrently; zero = unlimited
	Min int // for tenants: number of guaranteed jobs

	Rate  float64 // starts per second; zero = unlimited
	Burst int     // maximum number of saved-up starts

	Used   int     // number of jobs that currently hold it
	Tokens float64 // number of saved-up starts
}

// Refill adds the tokens for the elapsed time, up to Burst. It adds none if the clock was
// set back.
func (l *Limit) Refill(elapsed time.Duration) {
	if l.Rate <= 0 {
		return
	}
	l.Tokens = min(float64(l.Burst), l.Tokens+max(0, elapsed.Seconds())*l.Rate)
}

// Room returns the number of jobs that may start now under this limit.
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

// Full reports whether the number of jobs that hold the limit has reached Cap.
func (l *Limit) Full() bool { return l.Cap > 0 && l.Used >= l.Cap }

// NextToken returns the time until at least one start is saved up, or zero if one already
// is.
func (l *Limit) NextToken() time.Duration { return l.TokenAfter(0) }

// TokenAfter returns the time until enough starts have been saved up for the given number of
// jobs plus one.
func (l *Limit) TokenAfter(jobs int) time.Duration {
	need := float64(jobs) + 1
	if l.Rate <= 0 || l.Tokens >= need {
		return 0
	}
	return saturated((need - l.Tokens) / l.Rate * float64(time.Second))
}

// saturated converts nanoseconds to a duration, limited to the longest duration, because
// rates may be tiny.
func saturated(nanoseconds float64) time.Duration {
	if nanoseconds >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(nanoseconds))
}

// lacks returns the number of jobs missing to the minimum.
func (l *Limit) lacks() int { return max(0, l.Min-l.Used) }
