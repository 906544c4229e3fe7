package oidc

import (
	"net/http"
	"sync"
	"time"
)

// keysPause is the least time between two questions for the provider's keys. Every
// token with a wrong signature makes the verifier ask, so forged ones must not be able
// to load the provider. Tokens that wait for the same question share its answer: one
// that is signed with a new key is late by the pause at most, and not refused.
const keysPause = 2 * time.Second

// pacedKeys asks for keys, one question at a time and none too soon after another.
type pacedKeys struct {
	base http.RoundTripper
	mu   sync.Mutex
	free time.Time // when the next question may be asked
}

// RoundTrip is part of http.RoundTripper.
func (p *pacedKeys) RoundTrip(request *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := time.Until(p.free); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
	defer func() { p.free = time.Now().Add(keysPause) }()
	return p.base.RoundTrip(request)
}
