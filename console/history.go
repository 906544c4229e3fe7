package console

import (
	"sync"
	"time"
)

const (
	historyLength = 900 // samples, one per tick: half an hour
	historyRest   = 30 * time.Minute
)

// sample is what the figures were at one moment.
type sample struct {
	at      time.Time
	started float64
	running int64
	ready   int64
}

// history remembers the figures of the last half hour, of each scope that is looked at.
// The zero value is ready.
type history struct {
	mu     sync.Mutex
	scopes map[string][]sample
}

// add adds what was seen in a tick, and returns all that is remembered of the scope.
func (h *history) add(scope string, now sample) []sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scopes == nil {
		h.scopes = map[string][]sample{}
	}
	for other, samples := range h.scopes {
		if now.at.Sub(samples[len(samples)-1].at) > historyRest {
			delete(h.scopes, other)
		}
	}
	samples := h.scopes[scope]
	if n := len(samples); n == 0 || tickOf(samples[n-1].at) < tickOf(now.at) {
		samples = append(samples, now)
	}
	samples = samples[max(len(samples)-historyLength, 0):]
	h.scopes[scope] = samples
	return append([]sample(nil), samples...)
}
