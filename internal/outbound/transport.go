package outbound

import "net/http"

// Transport wraps base. Reading a response fails once the request's context has ended, and
// Reason converts all errors.
//
// A 101 response hands its connection over to the caller, and neither a context nor a
// timeout would interrupt reads from it. No call in this program asks to switch protocols.
// Transport therefore returns a 101 response without a body and closes its connection.
func Transport(base http.RoundTripper) http.RoundTripper { return &transport{base} }

type transport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
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

// CloseIdleConnections closes idle connections of the base transport.
// http.Client.CloseIdleConnections calls it.
func (t *transport) CloseIdleConnections() {
	if base, can := t.base.(interface{ CloseIdleConnections() }); can {
		base.CloseIdleConnections()
	}
}
