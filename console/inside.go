package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"connectrpc.com/connect"
)

// errForeignHost is returned if the viewer's browser requests a host other than this
// machine. Connect has no code for that status.
var errForeignHost = connect.NewError(connect.CodeUnknown, errors.New("misdirected request"))

// inside passes requests to a handler in the same process, on behalf of a viewer.
type inside struct {
	handler http.Handler
}

// RoundTrip implements http.RoundTripper. It sets the host name and the client address to
// those of the viewer's own request, because the handler depends on them.
func (i inside) RoundTrip(request *http.Request) (*http.Response, error) {
	own := request.Clone(request.Context())
	own.RequestURI = own.URL.RequestURI()
	if v := viewerOf(request.Context()); v != nil {
		own.Host, own.RemoteAddr, own.TLS = v.host, v.address, v.tls
		if v.token != "" {
			own.Header.Set("Authorization", "Bearer "+v.token)
		}
	}
	if key, once := request.Context().Value(onceKey{}).(string); once {
		own.Header.Set("Idempotency-Key", key)
	}
	if own.Body == nil {
		own.Body = http.NoBody
	}
	answer := &recorded{header: http.Header{}}
	i.handler.ServeHTTP(answer, own)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if answer.status == http.StatusMisdirectedRequest {
		return nil, errForeignHost
	}
	return answer.response(request), nil
}

// recorded is a response in memory.
type recorded struct {
	header http.Header
	sent   http.Header // headers at the start of the response
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorded) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.sent = status, r.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (r *recorded) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(p)
}

func (r *recorded) response(request *http.Request) *http.Response {
	r.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(r.status), StatusCode: r.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.sent, Body: io.NopCloser(&r.body), ContentLength: int64(r.body.Len()), Request: request,
	}
}

type viewerKey struct{}

// withViewer returns a context for API calls on behalf of a viewer.
func withViewer(ctx context.Context, v *viewer) context.Context {
	return context.WithValue(ctx, viewerKey{}, v)
}

// viewerOf returns the viewer on whose behalf the API is called, or nil.
func viewerOf(ctx context.Context) *viewer {
	v, _ := ctx.Value(viewerKey{}).(*viewer)
	return v
}
