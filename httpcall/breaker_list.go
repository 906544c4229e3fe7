package httpcall

import (
	"cmp"
	"slices"
	"time"
)

// Breaker is a target's circuit breaker. While it is open, this node does not call the
// target, because recent calls failed.
type Breaker struct {
	Address  string    // host and port of the target, for all schemes
	HalfOpen bool      // the next call, or one in progress, tests the target
	Failures int       // number of consecutive failures
	Since    time.Time // time at which the breaker opened
	Until    time.Time // time at which the next call may test the target; in the past if HalfOpen
}

// Breakers lists the open and half-open breakers, ordered by address. It omits targets that
// have not been called for a long time.
func (h *Handler) Breakers() []Breaker { return h.breakers.list() }

func (b *breakers) list() (open []Breaker) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for name, t := range b.byName {
		if t.pause == 0 || t.idle(now) {
			continue
		}
		open = append(open, Breaker{Address: name, HalfOpen: !now.Before(t.until), Failures: t.failures, Since: t.opened, Until: t.until})
	}
	slices.SortFunc(open, func(a, b Breaker) int { return cmp.Compare(a.Address, b.Address) })
	return open
}

// idle reports whether a target has not been called for so long that it may be forgotten.
func (t *breaker) idle(now time.Time) bool {
	return t.running == 0 && now.Sub(t.touched) > idleTarget
}
