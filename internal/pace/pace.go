// Package pace decides when items may start, so that they observe a rate exactly.
//
// A [Pace] hands out permits. Their due times follow from the time at which the rate was
// set and the number of permits since, not from how long callers slept, so that delays of
// late timers do not accumulate. A [Governor] lowers the rate when the target of the items
// performs badly, and raises it again.
package pace

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Special rates.
const (
	Unlimited = 0  // permits are granted immediately
	Held      = -1 // no permits are granted until another rate is set
)

// saved is the largest delay that is made up for after permits were not requested in time.
// It lets short pauses of the machine cost nothing. Because it is under 50 ms, every tenth
// of a second stays below 1.5 times the rate.
const saved = 40 * time.Millisecond

// Permits owed from before are made up for within catchUp, slowly enough to be barely
// noticeable. Permits are never accelerated by more than mostFaster of the rate: even
// together with saved, every tenth of a second stays below 1.5 times the rate.
const (
	catchUp    = 10 * time.Second
	mostFaster = 0.05
)

// slice is the period whose permits should be requested together. The overhead of requests
// is then the same at any high rate.
const slice = time.Millisecond

// Pace grants permits at a rate. It is safe for concurrent use.
//
// Counting from the time at which the rate was set, permit k is due after k/rate. A caller
// that requests n permits at once waits until the last of them is due. In any period d, the
// Pace grants at most n + rate × (d + 40 ms) permits, plus at most five percent while it
// still owes earlier permits.
type Pace struct {
	mu      sync.Mutex
	rate    float64
	base    time.Time // due time of the first permit of this rate
	given   int64     // permits granted at this rate
	debt    float64   // permits owed when the first of this rate was due
	faster  float64   // share of the rate by which permits are accelerated until the debt is made up for
	balance float64   // while the rate is Held: permits granted ahead of time
	changed chan struct{}
}

// New returns a Pace at the given rate. The first permit is due immediately. See SetRate for
// valid rates.
func New(rate float64) *Pace { return Resume(rate, 0) }

// Resume returns a Pace that continues where an earlier Pace ended. owed is the number of
// permits that the earlier Pace still owed; the new Pace grants them gradually. If owed is
// negative, the earlier Pace granted that many permits ahead of time, and the first permit is
// delayed accordingly.
func Resume(rate, owed float64) *Pace {
	mustBeRate(rate)
	p := &Pace{rate: rate, base: time.Now(), changed: make(chan struct{})}
	if rate > 0 {
		p.base = p.base.Add(seconds(max(0, -owed) / rate))
		p.owe(max(0, owed))
	}
	return p
}

// owe sets the number of permits owed from before, starting with the first permit of this
// rate.
func (p *Pace) owe(permits float64) {
	p.debt, p.faster = permits, min(permits/(p.rate*catchUp.Seconds()), mostFaster)
}

// mustBeRate panics if rate is invalid, because rates come from validated settings.
func mustBeRate(rate float64) {
	if !(rate >= 0 || rate == Held) || math.IsInf(rate, 0) {
		panic(fmt.Sprintf("pace: rate is %v; it must be a number per second, Unlimited or Held", rate))
	}
}

// Rate returns the rate: the number of permits per second, Unlimited or Held.
func (p *Pace) Rate() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate
}

// SetRate changes the rate, also for callers that are already waiting. The new rate accounts
// for permits that the old rate granted ahead of time. Callers therefore cannot exceed the
// rate by changing it often. SetRate panics unless rate is a number of permits per second,
// Unlimited or Held.
func (p *Pace) SetRate(rate float64) {
	mustBeRate(rate)
	p.mu.Lock()
	defer p.mu.Unlock()
	if rate == p.rate {
		return
	}
	now := time.Now()
	balance := p.owed(now)
	if rate == Held {
		balance = max(0, balance) // nothing can be made up for when the rate resumes
	}
	per := rate
	if balance < 0 {
		per = max(rate, p.rate) // saved permits grow neither in number nor in time
	}
	debt := p.left()
	p.rate, p.given, p.balance, p.debt = rate, 0, balance, 0
	if rate > 0 {
		p.base = now.Add(seconds(balance / per))
		p.owe(debt)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Forget discards permits that became due but were not requested in time, so they are not made
// up for.
func (p *Pace) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.rate > 0 && p.due(p.given).Before(now) {
		p.owe(p.left())
		p.base, p.given = now, 0
	}
}

// owed returns the number of permits granted ahead of time. If negative, it is the number
// that can be made up for.
func (p *Pace) owed(now time.Time) float64 {
	switch p.rate {
	case Held:
		return p.balance
	case Unlimited:
		return 1 // a permit was certainly granted just now
	}
	return max(p.due(p.given).Sub(now), -saved).Seconds() * p.rate
}

func (p *Pace) due(permit int64) time.Time {
	k := float64(permit)
	return p.base.Add(seconds(max(k/(1+p.faster), k-p.debt) / p.rate))
}

// left returns the number of permits still owed from before.
func (p *Pace) left() float64 {
	return max(0, p.debt-float64(p.given)*p.faster/(1+p.faster))
}

// seconds converts a number of seconds to a duration, limited to the range of durations. It
// rounds up, so that nothing is early.
func seconds(s float64) time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	if s > longest.Seconds() {
		return longest
	}
	return time.Duration(math.Ceil(s * float64(time.Second)))
}

// Slice returns the maximum number of permits to request at once: the number due within a
// millisecond, but at least one. For an unlimited rate, it returns a very large number.
func (p *Pace) Slice() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slice()
}

func (p *Pace) slice() int {
	if p.rate == Unlimited {
		return math.MaxInt32
	}
	return int(min(max(1, p.rate*slice.Seconds()), math.MaxInt32))
}

// Wait waits until permits are due, takes them all at once, and returns their number. It takes
// the requested number, most, unless the rate has been lowered during the wait and that number
// now exceeds the given number of slices. It then takes fewer, because the permits would
// otherwise arrive late and all at once. If the context ends first, Wait takes none and
// returns the context's error.
func (p *Pace) Wait(ctx context.Context, most, slices int) (int, error) {
	var timer *time.Timer
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		taken, wait, changed := p.take(most, slices)
		if taken > 0 {
			return taken, nil
		}
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// take takes permits, or returns the time until they are due.
func (p *Pace) take(most, slices int) (taken int, wait time.Duration, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.rate {
	case Unlimited:
		return most, 0, nil
	case Held:
		return 0, math.MaxInt64, p.changed
	}
	n := min(most, slices*min(p.slice(), most))
	now := time.Now()
	wait = p.due(p.given + int64(n) - 1).Sub(now)
	if wait > 0 {
		return 0, wait, p.changed
	}
	if wait < -saved { // permits not requested for a long time are not made up for
		p.owe(p.left())
		p.base, p.given = now.Add(-saved-seconds(float64(n-1)/p.rate)), 0
	}
	p.given += int64(n)
	return n, 0, nil
}
