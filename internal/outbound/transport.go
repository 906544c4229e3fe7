package outbound

import "net/http"

// Transport makes requests whose answers end with their context, and whose errors are
// those of Reason.
//
// An answer 101 hands its connection over to its caller: no context and no timeout ends
// what is read of it. No call here asks to switch protocols, so such an answer is one
// without a body, and its connection is closed.
func Transport(base http.RoundTripper) http.RoundTripper { return &transport{base} }

type transport struct{ base http.RoundTripper }

// RoundTrip makes one request.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, Reason(err)
	}
	if response.StatusCode/100 == 1 {
		_ = response.Body.Close()
		response.Body, response.ContentLength = http.NoBody, 0
	}
	return response, nil
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (t *transport) CloseIdleConnections() {
	if base, can := t.base.(interface{ CloseIdleConnections() }); can {
		base.CloseIdleConnections()
	}
}
