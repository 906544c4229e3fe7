package httpcall

import (
	"cmp"
	"slices"
	"time"
)

// Breaker is a target that this node leaves alone because calls to it failed.
type Breaker struct {
	Address  string // its host and port, whatever the scheme, and nothing else of its URL
	HalfOpen bool   // the next call, or one that is under way, tries the target again
	Failures int    // in a row
	Since    time.Time
	Until    time.Time // when the next call may try the target; it has passed if HalfOpen
}

// Breakers lists the breakers that are open or half-open, by address. Those of targets
// that have not been called for long are left out.
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
