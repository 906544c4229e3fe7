// Package pace says when items may start, so that they keep to a rate exactly.
//
// A [Pace] gives permits. The times at which they are due follow from when the
// rate was set and how many were given since, not from how long callers slept,
// so late timers do not add up. A [Governor] lowers the rate when what the
// items call does badly, and raises it again.
package pace

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Rates with a meaning of their own.
const (
	Unlimited = 0  // permits are given at once
	Held      = -1 // no permits are given until another rate is set
)

// saved is how much of the rate may be made up for after permits were not
// asked for in time. It lets short pauses of the machine cost nothing. Being
// under 50 ms, it keeps every tenth of a second below 1.5 times the rate.
const saved = 40 * time.Millisecond

// What is owed from before is made up for within catchUp, so that it is hardly seen. But
// permits never come faster than by mostFaster of the rate: with what is saved a tenth of
// a second stays below 1.5 times the rate.
const (
	catchUp    = 10 * time.Second
	mostFaster = 0.05
)

// slice is the time whose permits should be asked for together: the cost of
// asking is then the same at any high rate.
const slice = time.Millisecond

// Pace gives permits at a rate. It is safe for concurrent use.
//
// Permit k since the rate was set is due k/rate after it was set. A caller that
// asks for n at once waits for the last of them. So in any time d no more than
// n + rate × (d + 40 ms) are given; and at most a twentieth more while permits are owed
// from before.
type Pace struct {
	mu      sync.Mutex
	rate    float64
	base    time.Time // when the first permit of this rate was due
	given   int64     // permits of this rate
	debt    float64   // permits that were owed when the first of this rate was due
	faster  float64   // by which part of the rate permits come faster until that is made up for
	balance float64   // while the rate is Held: permits given ahead of time
	changed chan struct{}
}

// New makes a pace. The first permit is due at once. A rate is as in SetRate.
func New(rate float64) *Pace { return Resume(rate, 0) }

// Resume makes a pace that goes on where another ended. So many permits are owed since
// then, which are given bit by bit. If it is less than none, that many were given ahead,
// and the first waits for it.
func Resume(rate, owed float64) *Pace {
	mustBeRate(rate)
	p := &Pace{rate: rate, base: time.Now(), changed: make(chan struct{})}
	if rate > 0 {
		p.base = p.base.Add(seconds(max(0, -owed) / rate))
		p.owe(max(0, owed))
	}
	return p
}

// owe sets what is owed from before, from the first permit of this rate on.
func (p *Pace) owe(permits float64) {
	p.debt, p.faster = permits, min(permits/(p.rate*catchUp.Seconds()), mostFaster)
}

// mustBeRate panics on what is no rate: it comes from settings that were
// checked.
func mustBeRate(rate float64) {
	if !(rate >= 0 || rate == Held) || math.IsInf(rate, 0) {
		panic(fmt.Sprintf("pace: rate is %v; it must be a number per second, Unlimited or Held", rate))
	}
}

// Rate is the number of permits per second, or Unlimited, or Held.
func (p *Pace) Rate() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate
}

// SetRate changes the rate, also for those who wait. What was given ahead under
// the old rate is paid for under the new one, so changing the rate often is no
// way around it.
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
		balance = max(0, balance) // nothing is saved for when it goes on
	}
	per := rate
	if balance < 0 {
		per = max(rate, p.rate) // what was saved is neither more permits nor more time than before
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

// Forget gives up what could be made up for because permits were not asked for in time.
func (p *Pace) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.rate > 0 && p.due(p.given).Before(now) {
		p.owe(p.left())
		p.base, p.given = now, 0
	}
}

// owed is how many permits were given ahead of time; if negative, how many could
// be made up for.
func (p *Pace) owed(now time.Time) float64 {
	switch p.rate {
	case Held:
		return p.balance
	case Unlimited:
		return 1 // a permit was surely given just now
	}
	return max(p.due(p.given).Sub(now), -saved).Seconds() * p.rate
}

func (p *Pace) due(permit int64) time.Time {
	k := float64(permit)
	return p.base.Add(seconds(max(k/(1+p.faster), k-p.debt) / p.rate))
}

// left is how many permits are still owed from before.
func (p *Pace) left() float64 {
	return max(0, p.debt-float64(p.given)*p.faster/(1+p.faster))
}

// seconds is a duration, bounded to what a duration can hold. It rounds up, so
// that nothing is early.
func seconds(s float64) time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	if s > longest.Seconds() {
		return longest
	}
	return time.Duration(math.Ceil(s * float64(time.Second)))
}

// Slice is how many permits to ask for at most: what is due in a millisecond,
// at least one. Without a limit it is a large number.
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

// Wait takes permits as soon as the last of them is due, and returns how many: the
// most that is wanted, unless the rate was lowered so far while it waited that
// these are more than so many slices. They would come late and all at once. It
// returns the context's error, and takes none, if the context ends before.
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

// take takes permits, or says how long it takes until they are due.
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
	if wait < -saved { // no permit was asked for in a long time, which is not made up for
		p.owe(p.left())
		p.base, p.given = now.Add(-saved-seconds(float64(n-1)/p.rate)), 0
	}
	p.given += int64(n)
	return n, 0, nil
}
