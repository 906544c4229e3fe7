package oidc

import (
	"io"
	"net/http"
)

// short is a transport that truncates responses after maxAnswer bytes, because the library
// reads them completely.
type short struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
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
