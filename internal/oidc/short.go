package oidc

import (
	"io"
	"net/http"
)

// short is a transport whose answers end after maxAnswer bytes: the library reads all
// of them.
type short struct{ base http.RoundTripper }

// RoundTrip makes one request.
func (s short) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxAnswer), response.Body}
	return response, nil
}
