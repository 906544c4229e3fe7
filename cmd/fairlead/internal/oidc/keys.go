package oidc

import (
	"net/http"
	"sync"
	"time"
)

// keysPause is the minimum interval between two requests for the provider's keys. Every
// token with a wrong signature makes the verifier request the keys, so forged tokens must
// not be able to overload the provider. Tokens that wait for the same request share its
// response: a token signed with a new key is delayed at most by the pause, and not
// rejected.
const keysPause = 2 * time.Second

// pacedKeys requests keys, one request at a time and with a minimum interval.
type pacedKeys struct {
	base http.RoundTripper
	mu   sync.Mutex
	free time.Time // earliest time of the next request
}

// RoundTrip implements http.RoundTripper.
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
